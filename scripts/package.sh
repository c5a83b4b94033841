# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev package: the Debian packages of packaging/debian, and a fresh system that they are tried in. Sourced; runs nothing.

version_of_tree()
{
    awk '/#define GYRE_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }' include/gyre/version.h
}

# write_changelog VERSION FILE: the one entry that dpkg wants. The date is that of the last commit, so that the packages of one
# commit are the same bytes whenever they are built.
write_changelog()
{
    printf 'gyre (%s-1) unstable; urgency=medium\n\n  * CHANGELOG.md says what this version has.\n\n -- %s  %s\n' "$1" \
        "$(sed -n 's/^Maintainer: //p' packaging/debian/control)" \
        "$(git log -1 --format=%cD 2>/dev/null || date -R -r CHANGELOG.md)" >"$2"
}

# copy_tree FOLDER: the files of the checkout, also those that no commit has yet.
copy_tree()
{
    mkdir -p "$1"
    if [[ -e .git ]]; then
        git ls-files -z --cached --others --exclude-standard --deduplicate | tar -c --null --ignore-failed-read -T - | tar -x -C "$1"
    else
        tar -c --exclude=./build . | tar -x -C "$1"
    fi
}

# package_tree: makes the source tree of the packages in build/package, with nothing else beside it.
package_tree()
{
    local version
    version="$(version_of_tree)"
    rm -rf build/package
    copy_tree "build/package/gyre-$version"
    cp -r packaging/debian "build/package/gyre-$version/debian"
    write_changelog "$version" "build/package/gyre-$version/debian/changelog"
}

package_build()
{
    local tree
    need_packages build package
    package_tree
    tree="build/package/gyre-$(version_of_tree)"
    say "building the packages"
    (
        cd "$tree"
        if have ccache; then
            CCACHE_DIR="$(ccache -k cache_dir)"
            export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR
        fi
        run_logged ../build.log dpkg-buildpackage -b -us -uc "-j${PACKAGE_JOBS:-$(nproc)}"
    ) || return 1
    say "the packages are in build/package:"
    (cd build/package && du -h -- *.deb)
}

# package_lint: what lintian finds.
package_lint()
{
    have lintian || die "package: lintian is not installed (Debian, Ubuntu: apt install lintian)"
    # these packages are not for the archive of Debian, where a first one has a number of its own
    lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs build/package/*.changes
}

# package_variations: what reprotest may change between the two builds on this machine. Another user and another name of the host need
# rights that a checkout has not; another order of files in folders needs disorderfs, which needs /dev/fuse.
package_variations()
{
    local variations='+all,-user_group,-domain_host'
    { have disorderfs && [[ -w /dev/fuse ]]; } || variations+=',-fileordering'
    have faketime || variations+=',-time'
    echo "$variations"
}

# locale_of_reprotest FOLDER: the locale that its second build asks for, which few systems have, so that the build is told to look there.
locale_of_reprotest()
{
    mkdir -p "$1"
    [[ -d "$1/et_EE.UTF-8" ]] || localedef -i et_EE -f UTF-8 "$1/et_EE.UTF-8" 2>/dev/null ||
        say "going on without the locale et_EE.UTF-8 (Debian, Ubuntu: apt install locales)"
}

# disordered_folders: where disorderfs is mounted, a line each.
disordered_folders()
{
    findmnt -rn -t fuse.disorderfs -o TARGET || true
}

# leave_no_disorder BEFORE: takes away what a reprotest that was killed left mounted; BEFORE is what others had mounted already.
leave_no_disorder()
{
    local folder
    while read -r folder; do
        [[ $'\n'"$1"$'\n' == *$'\n'"$folder"$'\n'* ]] || fusermount -u -z "$folder" || umount -l "$folder"
    done < <(disordered_folders)
}

# package_reproducible: two builds of the packages, in different folders, at different times, with another umask, locale, time zone,
# environment, order of files and number of processors. They have to be the same bytes; build/reproducible has the packages and what differs.
package_reproducible()
{
    local command=(env "LOCPATH=$PWD/build/locales") variations before
    need_packages build package reproducible
    before="$(disordered_folders)"
    # shellcheck disable=SC2064 # as it is now
    trap "leave_no_disorder ${before@Q}" EXIT
    package_tree
    locale_of_reprotest build/locales
    variations="$(package_variations)"
    if have ccache; then # the folder of a build is a part of what it looks for: no build gets what the other one compiled
        command+=(CMAKE_C_COMPILER_LAUNCHER=ccache "CCACHE_DIR=$(ccache -k cache_dir)")
    fi
    command+=(dpkg-buildpackage -b -us -uc)
    rm -rf build/reproducible
    say "building the packages twice ($variations)"
    if ! run_logged build/package/reproducible.log reprotest "--variations=$variations" --store-dir build/reproducible \
        -c "${command[*]}" "build/package/gyre-$(version_of_tree)" '../*.deb'; then
        say "the packages are not the same bytes, or were not built: build/reproducible has what there is"
        return 1
    fi
    say "both builds gave the same bytes:"
    cat build/reproducible/SHA256SUMS
}

# make_system SUITE FOLDER: a fresh system; of PACKAGE_SYSTEM, an archive that mmdebstrap made before, where that is set.
make_system()
{
    if [[ -n "${PACKAGE_SYSTEM:-}" ]]; then
        tar -x -C "$2" --exclude='./dev/*' -f "$PACKAGE_SYSTEM"
        return
    fi
    have mmdebstrap || die "package: mmdebstrap is not installed (Debian, Ubuntu: apt install mmdebstrap)"
    run_logged "build/package/$1.log" mmdebstrap --variant=minbase "$1" "$2" "${PACKAGE_MIRROR:-http://deb.debian.org/debian}"
}

# enter_system FOLDER COMMAND...: runs it as root in a system of its own.
enter_system()
{
    local root="$1" name status=0
    shift
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    for name in proc dev; do
        mount --rbind "/$name" "$root/$name"
        mount --make-rslave "$root/$name" # what is unmounted there stays mounted here
    done
    env -u TMPDIR chroot "$root" "$@" || status=1 # the system has a /tmp of its own
    for name in dev proc; do
        umount -l "$root/$name"
    done
    return "$status"
}

# remove_system FOLDER: unless something of this system is still mounted there.
remove_system()
{
    mountpoint -q "$1/dev" || mountpoint -q "$1/proc" || rm -rf --one-file-system "$1"
}

# package_build_in SUITE: makes the packages with the compiler and the libraries of that suite, in a fresh system of it.
package_build_in()
{
    local suite="$1" root status=0
    [[ "$(id -u)" == 0 ]] || die "package: a system is made and entered by root alone: sudo ./dev package build $suite"
    package_tree
    root="$(mktemp -d)"
    say "making a system of $suite in $root"
    make_system "$suite" "$root" || return 1
    chmod 755 "$root"
    cp -r "build/package/gyre-$(version_of_tree)" "$root/tmp/gyre"
    say "building the packages in it"
    # shellcheck disable=SC2016 # the inner shell's words
    enter_system "$root" env DEBIAN_FRONTEND=noninteractive JOBS="${PACKAGE_JOBS:-$(nproc)}" bash -c '
        set -e
        cd /tmp/gyre
        apt-get update
        apt-get install -y --no-install-recommends build-essential
        apt-get build-dep -y --no-install-recommends ./
        dpkg-buildpackage -b -us -uc "-j$JOBS"' >build/package/build.log 2>&1 || status=1
    cp "$root"/tmp/*.deb "$root"/tmp/*.changes "$root"/tmp/*.buildinfo build/package 2>/dev/null || status=1
    remove_system "$root"
    ((status == 0)) || log_failure build/package/build.log "package build $suite" || return 1
    say "the packages of $suite are in build/package"
}

# package_try SUITE: in a fresh system of that suite: install, the README's program, a service, removal.
package_try()
{
    local suite="$1" root status=0 name
    [[ "$(id -u)" == 0 ]] || die "package: a system is made and entered by root alone: sudo ./dev package try $suite"
    compgen -G 'build/package/gyre_*.deb' >/dev/null || die "package: build/package has no packages: run ./dev package first"
    root="$(mktemp -d)"
    say "making a system of $suite in $root"
    make_system "$suite" "$root" || return 1
    chmod 755 "$root"
    for name in build/package/*.deb; do
        [[ "$name" == *-dbgsym_* ]] || cp "$name" "$root/tmp"
    done
    cp scripts/try_packages.sh "$root/tmp"
    cp -r packaging/debian/tests "$root/tmp"
    if [[ -n "${PACKAGE_BEFORE:-}" ]]; then # a folder of older packages, which are upgraded under load
        mkdir "$root/tmp/before"
        find "$PACKAGE_BEFORE" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$root/tmp/before" \;
    fi
    enter_system "$root" bash /tmp/try_packages.sh || status=1
    remove_system "$root"
    ((status == 0)) || die "package: the packages do not work in $suite (above)"
}
