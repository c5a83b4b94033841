#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes README.md, docs/ and the manuals as one folder of HTML pages with a search, for a browser or a web server.

    site.py OUT [MANUALS...]

OUT is replaced. MANUALS are folders of manual pages. Pages are made from Markdown by cmark-gfm, manuals by mandoc. A
file of the checkout that a page links to gets a page as well, so that every link leads somewhere; a link or an anchor
that does not is an error. Pages need no network, no server and no cookies: the index of the search is a script beside
them. Run in the root of a checkout.
"""
import html
import json
import pathlib
import re
import shutil
import string
import subprocess
import sys
import urllib.parse

# The pages in the order of the menu. A page of docs/ that is not here is an error: nobody would find it.
MENU = {
    "Begin": ["README.md", "docs/kernels.md", "docs/messages.md", "docs/applications.md", "docs/python.md"],
    "Build systems of kernels": ["docs/pipelines.md", "docs/keyed.md", "docs/cluster.md", "docs/orleans.md", "docs/attach.md"],
    "Run": ["docs/configuration.md", "docs/backends.md", "docs/backends/cuda.md", "docs/backends/opencl.md", "docs/devices.md",
            "docs/reliability.md", "docs/observation.md", "docs/operations.md", "docs/moving.md", "docs/ports.md"],
    "Find mistakes": ["docs/debugging.md", "docs/simulator_tutorial.md", "docs/simulator.md", "docs/testing.md"],
    "Judge": ["docs/benchmarks.md", "docs/comparisons.md", "docs/architecture.md", "docs/review.md", "docs/adr/README.md", "CHANGELOG.md"],
}
UNLISTED = ["docs/adr/*.md"]  # reached from a page of the menu
PICTURES = {".svg", ".png"}
LINK = re.compile(r'(href|src)="([^"]*)"')
HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.S)
TAG = re.compile(r"<[^>]*>")


def plain(fragment):
    return html.unescape(TAG.sub("", fragment)).strip()


def slug(heading, taken):
    """The anchor of a heading, as readers of Markdown make it: lower case, hyphens, a number when it is taken."""
    base = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name


class Page:
    def __init__(self, address, title, body, anchors=()):
        self.address, self.title, self.body, self.anchors = address, title, body, set(anchors)


class Site:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.pages, self.index, self.faults = {}, [], []
        self.waiting, self.copied = [], set()

    # ---- where things are ----

    def address_of(self, source):
        """The page of a file of the checkout."""
        if source == "README.md":
            return "index.html"
        stem = source[:-3] if source.endswith(".md") else "files/" + source
        return (stem.replace("docs/adr/README", "docs/adr/index")) + ".html"

    @staticmethod
    def relative(address, to):
        return "../" * address.count("/") + to

    def target(self, source, link):
        """What a link of the file `source` leads to: (address, anchor), or None where it leaves the checkout."""
        if re.match(r"[a-z]+:", link):
            return None
        path, _, anchor = urllib.parse.unquote(link).partition("#")
        if not path:
            return self.address_of(source), anchor
        full = (self.root / source).parent.joinpath(path).resolve()
        if not full.is_relative_to(self.root) or not full.exists():
            self.faults.append(f"{source}: '{link}' leads nowhere")
            return None
        name = str(full.relative_to(self.root))
        if full.is_dir() and (full / "README.md").exists():
            name += "/README.md"
        elif full.is_dir():
            name += "/"
        return self.reach(name), anchor

    def reach(self, name):
        """The address of a file, a folder ("NAME/") or a picture, which is made or copied once."""
        if pathlib.Path(name).suffix in PICTURES:
            self.copied.add(name)
            return name
        address = self.address_of(name.rstrip("/"))
        if address not in self.pages and name not in self.waiting:
            self.waiting.append(name)
        return address

    # ---- making pages ----

    def markdown(self, source):
        text = (self.root / source).read_bytes()
        body = subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink"], input=text, stdout=subprocess.PIPE,
                              check=True).stdout.decode().replace("<!-- raw HTML omitted -->", "")
        address, taken = self.address_of(source), set()
        titles = []

        def mark(match):
            heading = plain(match[2])
            anchor = slug(heading, taken)
            titles.append((heading, anchor, match.start()))
            return f'<h{match[1]} id="{anchor}">{match[2]} <a class="anchor" href="#{anchor}" ' \
                   f'aria-label="link to this section">#</a></h{match[1]}>'

        marked = HEADING.sub(mark, body)
        title = titles[0][0] if titles else source
        for number, (heading, anchor, start) in enumerate(titles):
            end = titles[number + 1][2] if number + 1 < len(titles) else len(body)
            self.enter(address, anchor, title, heading, plain(HEADING.sub("", body[start:end])))

        def lead(match):
            found = self.target(source, html.unescape(match[2]))
            if not found:
                return match[0]
            link = self.relative(address, found[0]) + ("#" + found[1] if found[1] else "")
            return f'{match[1]}="{html.escape(link)}"'

        marked = LINK.sub(lambda match: match[0] if match[0].startswith('href="#') else lead(match), marked)
        self.pages[address] = Page(address, title, marked, taken)

    def file(self, name):
        address, path = self.address_of(name.rstrip("/")), self.root / name
        if path.is_dir():
            files = sorted(str(each.relative_to(self.root)) for each in path.rglob("*") if each.is_file())
            items = "".join(f'<li><a href="{self.relative(address, self.reach(each))}">'
                            f"{html.escape(each[len(name):])}</a></li>" for each in files)
            body = f"<ul>{items}</ul>"
        else:
            body = f"<pre><code>{html.escape(path.read_text(errors='replace'))}</code></pre>"
        self.pages[address] = Page(address, name, f"<h1>{html.escape(name)}</h1>{body}")

    def manual(self, path):
        name = f"{path.stem}({path.suffix[1:]})"
        body = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", str(path)],
                              stdout=subprocess.PIPE, check=True).stdout.decode()
        address = f"manual/{path.name}.html"
        line = re.search(r"^\.Nd (.*)$|\\- (.*)$", path.read_text(), re.M)
        about = (line[1] or line[2]) if line else ""
        self.pages[address] = Page(address, name, body, re.findall(r'id="([^"]*)"', body))
        self.enter(address, "", name, name, plain(body))
        return path.suffix[1:], name, about, path.name

    def manuals(self, folders):
        found = sorted(self.manual(path) for folder in folders for path in sorted(pathlib.Path(folder).iterdir())
                       if re.fullmatch(r"\.[1-8]", path.suffix) and not path.read_text().startswith(".so "))
        titles = {"1": "Commands", "3": "Functions and headers", "5": "Files"}
        body = "<h1>Manuals</h1>"
        for section in sorted({each[0] for each in found}):
            rows = "".join(f'<tr><td><a href="{file}.html">{html.escape(name)}</a></td><td>{html.escape(about)}</td></tr>'
                           for at, name, about, file in found if at == section)
            body += f"<h2>{titles.get(section, section)}</h2><table>{rows}</table>"
        self.pages["manual/index.html"] = Page("manual/index.html", "Manuals", body)

    def enter(self, address, anchor, title, heading, text):
        self.index.append([address + ("#" + anchor if anchor else ""), title, heading, " ".join(text.split())])

    # ---- the whole ----

    def menu(self, address):
        lines = []
        for group, sources in MENU.items():
            lines.append(f"<h2>{group}</h2><ul>")
            for source in sources:
                to = self.address_of(source)
                here = ' aria-current="page"' if to == address else ""
                lines.append(f'<li><a href="{self.relative(address, to)}"{here}>'
                             f"{html.escape(self.pages[to].title.split(':')[0])}</a></li>")
            lines.append("</ul>")
        if "manual/index.html" in self.pages:
            lines.append(f'<ul><li><a href="{self.relative(address, "manual/index.html")}">Manuals</a></li></ul>')
        return "".join(lines)

    def check_links(self):
        for page in self.pages.values():
            for _, link in LINK.findall(page.body):
                path, _, anchor = html.unescape(link).partition("#")
                if re.match(r"[a-z]+:", path):
                    continue
                folder = pathlib.PurePosixPath(page.address).parent
                parts = []
                for part in (folder / path).parts if path else pathlib.PurePosixPath(page.address).parts:
                    parts = parts[:-1] if part == ".." else [*parts, part]
                to = "/".join(parts)
                if to in self.copied:
                    continue
                if to not in self.pages:
                    self.faults.append(f"{page.address}: '{link}' leads nowhere")
                elif anchor and anchor not in self.pages[to].anchors:
                    self.faults.append(f"{page.address}: '{link}': that page has no section '{anchor}'")

    def make(self, manuals):
        listed = [source for sources in MENU.values() for source in sources]
        for source in sorted(str(path.relative_to(self.root)) for path in (self.root / "docs").rglob("*.md")):
            if source not in listed and not any(pathlib.PurePosixPath(source).match(each) for each in UNLISTED):
                self.faults.append(f"{source}: is not in the menu of scripts/site.py")
        self.waiting = list(listed)
        if manuals:
            self.manuals(manuals)
        while self.waiting:
            name = self.waiting.pop(0)
            if self.address_of(name.rstrip("/")) in self.pages:
                continue
            if name.endswith(".md"):
                self.markdown(name)
            else:
                self.file(name)
        self.check_links()

    def write(self):
        sheets = self.root / "docs/site"
        template = string.Template((sheets / "page.html").read_text())
        if self.out.exists():
            shutil.rmtree(self.out)
        for page in self.pages.values():
            path = self.out / page.address
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(template.substitute(title=html.escape(page.title), root="../" * page.address.count("/"),
                                                menu=self.menu(page.address), body=page.body))
        for name in self.copied:
            (self.out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / name, self.out / name)
        for name in ("site.css", "search.js"):
            shutil.copyfile(sheets / name, self.out / name)
        (self.out / "index.js").write_text("var sections = " + json.dumps(self.index) + ";\n")


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: site.py OUT [MANUALS...]")
    out = pathlib.Path(sys.argv[1]).resolve()
    if out.exists() and not (out / "search.js").exists():
        sys.exit(f"'{out}' is there and is no such site: name another folder")
    site = Site(pathlib.Path.cwd(), out)
    site.make(sys.argv[2:])
    if site.faults:
        sys.exit("\n".join(site.faults))
    site.write()
    print(f"{len(site.pages)} pages, {len(site.index)} sections for the search, in {sys.argv[1]}")


main()
