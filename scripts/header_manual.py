# SPDX-License-Identifier: Apache-2.0
"""Section 3 of the manual, out of the contracts in the public headers: a page a function, and a page a header.

header_manual.py write INCLUDE FOLDER   writes the pages
header_manual.py check INCLUDE                          fails where a function has no contract

A function's contract is the comment directly above its declaration; macros that call the function may stand between. A comment
that begins with "These", "Both" or "All" is the contract of every declaration that follows without an empty line or a comment.
"""
import os
import re
import sys
import textwrap
import time

SHARED = re.compile(r"(These|Both|All)\b")
DECLARED = re.compile(r"GYRE_API\s+(?P<result>.*?)\s*(?P<name>gyre_\w+)\((?P<arguments>.*)\);", re.S)


def comment_text(comment):
    """The words of a comment, a string a line, without its frame."""
    body = re.sub(r"^/\*+ ?|\s*\*/$", "", comment.strip())
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in body.split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    return lines


class Function:
    def __init__(self, header, line, declaration, text, macros):
        found = DECLARED.match(" ".join(declaration.split()))
        if not found:
            raise SystemExit(f"{header}:{line}: expected 'GYRE_API TYPE gyre_NAME(...);', found: {declaration.strip()}")
        self.header, self.line, self.text, self.macros = header, line, text, macros
        self.name, self.result = found["name"], found["result"]
        self.arguments = split_arguments(found["arguments"])


def split_arguments(text):
    """At commas outside of parentheses: an argument may be a pointer to a function."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def read_header(path, name):
    """The header's first comment, and its functions in order."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    functions, overview = [], None
    text, macros, fresh = [], [], True  # fresh: no declaration used the text yet
    at = 0
    while at < len(lines):
        line, first = lines[at], at + 1
        at += 1
        if line.startswith("/*"):
            while "*/" not in line:
                line += "\n" + lines[at]
                at += 1
            if line.rstrip().endswith("*/"):
                words = comment_text(line)
                if overview is None and not words[0].startswith("SPDX"):
                    overview = words
                text, macros, fresh = ([] if words[0].startswith("----") else words), [], True
        elif line.startswith("#define gyre_"):
            macros.append(re.match(r"#define (gyre_\w+)", line)[1])
            while line.endswith("\\"):
                line = lines[at]
                at += 1
        elif line.startswith("GYRE_API"):
            while not line.rstrip().endswith(";") and at < len(lines):
                line += "\n" + lines[at]
                at += 1
            own = text if fresh or (text and SHARED.match(text[0])) else []
            functions.append(Function(name, first, re.sub(r"/\*.*?\*/", "", line), own, macros if fresh else []))
            fresh = False
        else:
            text, macros, fresh = [], [], True
    return overview or [], functions


def read_headers(include):
    headers = {}
    for name in sorted(os.listdir(os.path.join(include, "gyre"))):
        if name.endswith(".h"):
            overview, functions = read_header(os.path.join(include, "gyre", name), f"gyre/{name}")
            if functions:
                headers[f"gyre/{name}"] = (overview, functions)
    if not headers:
        raise SystemExit(f"{include}/gyre: expected headers that declare functions with GYRE_API, found none")
    return headers


def check(headers):
    bare = [one for _, functions in headers.values() for one in functions if not one.text]
    for one in bare:
        print(f"{one.header}:{one.line}: {one.name} has no contract: a comment directly above its declaration says what the "
              "function does, who owns what it gives, and when it fails")
    if bare:
        raise SystemExit(1)
    print(f"{sum(len(functions) for _, functions in headers.values())} functions have a contract")


# ---- mdoc ----

def plain(text):
    """Letters that mean something to mdoc, as themselves."""
    text = text.replace("\\", "\\e")
    return "\\&" + text if text[:1] in ".'" else text


def argument(text):
    """One word of a macro's line."""
    return '"' + text.replace("\\", "\\e").replace('"', "\\(dq") + '"'


def sentences(words):
    """A sentence a line, as mdoc wants it, and no line beyond 78 letters."""
    text = re.sub(r"(?<=\w)\(\)", r"\\&()", " ".join(words).replace("\\", "\\e"))
    out = []
    for sentence in re.split(r"(?<=[.!?])\s+(?=\S)", text):
        out += textwrap.wrap(sentence, 78, break_long_words=False, break_on_hyphens=False)
    return ["\\&" + line if line[:1] in ".'" else line for line in out]


def blocks(lines):
    """Runs of lines that are prose, and runs that are shown as they are: those that are indented further."""
    runs, kind = [], None
    for line in lines:
        if not line:
            if kind == "shown":
                runs[-1][1].append("")
            else:
                kind = None
            continue
        now = "shown" if line.startswith("    ") else "prose"
        if now != kind:
            runs.append((now, []))
        kind = now
        runs[-1][1].append(line)
    return runs


def paragraphs(lines):
    out = []
    for kind, run in blocks(lines):
        if kind == "shown":
            while not run[-1]:
                run.pop()
            out += [".Bd -literal -offset indent", *[plain(line[4:]) for line in run], ".Ed"]
        else:
            out += ([".Pp"] if out else []) + sentences([line.strip() for line in run])
    return out


def first_sentence(lines):
    """Up to the first full stop; it is the page's line in a list of pages, and lists want it short."""
    words = []
    for line in lines:
        if not line or line.startswith("    "):
            break
        words.append(line.strip())
    text = " ".join(words)
    text = re.split(r"(?<=[a-z0-9)\"])[.;:](?:\s|$)", text)[0].rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() and not text.startswith("Gyre") else text


def page(name, date, summary, body):
    return "\n".join([f".Dd {date}", f".Dt {name.upper()} 3", ".Os", ".Sh NAME", f".Nm {name}",
                      f".Nd {plain(summary)}", *body]) + "\n"


def synopsis(one):
    out = [".Sh SYNOPSIS", f".In {one.header}", f".Ft {argument(one.result)}", f".Fo {one.name}"]
    out += [f".Fa {argument(word)}" for word in one.arguments]
    return out + [".Fc"]


RETURNS = [".Dv GYRE_OK ,", "or a status that says why not: a word in capitals in the text above is the",
           "status GYRE_ of that word.", "After every status but", ".Dv GYRE_OK ,", ".Xr gyre_error_text 3",
           "says in a sentence what went wrong."]


def function_page(one, date, overview_name, near):
    body = [".Sh LIBRARY", "Gyre (libgyre, \\-lgyre)", *synopsis(one), ".Sh DESCRIPTION", *paragraphs(one.text)]
    if one.macros:
        body += [".Pp", "Programs call it through the macro", *[f".Fn {macro} ." for macro in one.macros]]
    if one.result == "gyre_status":
        body += [".Sh RETURN VALUES", *RETURNS]
    body += [".Sh SEE ALSO", *see([(name, 3) for name in sorted(set(near + [overview_name]) - {one.name})])]
    return page(one.name, date, first_sentence(one.text), body)


def see(pages):
    return [f".Xr {name} {section}" + (" ," if at + 1 < len(pages) else "") for at, (name, section) in enumerate(pages)]


def header_page(name, overview, functions, date):
    body = [".Sh LIBRARY", "Gyre (libgyre, \\-lgyre)", ".Sh SYNOPSIS", f".In gyre/{name}",
            ".Sh DESCRIPTION", *paragraphs(overview), ".Sh FUNCTIONS", ".Bl -tag -width Ds"]
    for one in functions:
        body += [f".It Xr {one.name} 3", *sentences([first_sentence(one.text) + "."])]
    return page(f"gyre_{name}", date, first_sentence(overview), body + [".El", ".Sh SEE ALSO", ".Xr gyre 1"])


def write(headers, folder):
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    moment = time.gmtime(seconds)
    date = f"{time.strftime('%B', moment)} {moment.tm_mday}, {moment.tm_year}"
    os.makedirs(folder, exist_ok=True)
    for header, (overview, functions) in headers.items():
        short = header.split("/")[1]
        pages = {f"gyre_{short}": header_page(short, overview, functions, date)}
        for at, one in enumerate(functions):
            near = [other.name for other in functions[max(0, at - 2):at + 3]]
            pages[one.name] = function_page(one, date, f"gyre_{short}", near)
            pages.update({macro: f".so man3/{one.name}.3\n" for macro in one.macros if macro != one.name})
        for name, text in pages.items():
            with open(os.path.join(folder, f"{name}.3"), "w", encoding="utf-8") as file:
                file.write(text)


def main(words):
    if len(words) == 3 and words[0] == "write":
        write(read_headers(words[1]), words[2])
    elif len(words) == 2 and words[0] == "check":
        check(read_headers(words[1]))
    else:
        raise SystemExit("usage: header_manual.py write INCLUDE FOLDER | check INCLUDE")


main(sys.argv[1:])
