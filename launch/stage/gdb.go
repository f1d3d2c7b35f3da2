// Packs a gdb with its libraries, data and Python.

package stage

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sdm/protocol/pattern"
)

// GDB is a gdb of this host that can be copied to other hosts.
type GDB struct {
	path   string
	loader string // its dynamic loader (PT_INTERP); "": it is statically linked
}

// FindGDB finds a gdb by path or name. The error says why it cannot be copied to another host.
func FindGDB(name string) (*GDB, error) {
	if name == "" {
		name = "gdb"
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%s: no such program here (name one with --gdb PATH)", name)
	}
	g := &GDB{}
	if g.path, err = filepath.Abs(found); err != nil {
		return nil, err
	}
	f, err := elf.Open(g.path)
	var format *elf.FormatError
	switch {
	case errors.As(err, &format):
		return nil, fmt.Errorf("%s is a script, or no program at all (name with --gdb the program that it starts)", g.path)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", g.path, plain(err))
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
			b := make([]byte, p.Filesz)
			if _, err := p.ReadAt(b, 0); err != nil {
				return nil, fmt.Errorf("%s: %w", g.path, err)
			}
			g.loader = string(bytes.TrimRight(b, "\x00"))
		}
	}
	return g, nil
}

// Pack makes the archive: gdb, its libraries with their loader, its data directory and its Python,
// and a script that runs them together (see runner).
func (g *GDB) Pack(ctx context.Context) (_ *Archive, err error) {
	p, err := newPacker()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.drop()
		}
	}()
	asked, err := g.ask(ctx)
	if err != nil {
		return nil, err
	}
	libs, err := g.libraries(ctx, g.path)
	if err != nil {
		return nil, err
	}
	p.file("bin/gdb", g.path)
	if asked.data != "" {
		p.tree("data", asked.data, nil)
	}
	if asked.stdlib != "" {
		g.packPython(ctx, p, asked, libs)
	}
	for name, file := range libs {
		p.file("lib/"+name, file)
	}
	if g.loader != "" {
		p.file("lib/"+path.Base(g.loader), g.loader)
	}
	// Character set conversions are modules of this C library, which another one cannot load.
	p.tree("gconv", filepath.Join(filepath.Dir(libs["libc.so.6"]), "gconv"), nil)
	p.text(runnerName, g.runner(p))
	return p.finish()
}

// packPython packs the Python standard library without the parts that a debugger does not need,
// and adds the libraries of its C modules to libs.
func (g *GDB) packPython(ctx context.Context, p *packer, asked answers, libs map[string]string) {
	missing := map[string]bool{} // C modules whose libraries are not on this host
	modules, _ := filepath.Glob(filepath.Join(asked.platlib, "lib-dynload", "*.so"))
	for _, m := range modules {
		more, err := g.libraries(ctx, m)
		if err != nil {
			missing[filepath.Base(m)] = true
			continue
		}
		for name, file := range more {
			if libs[name] == "" {
				libs[name] = file
			}
		}
	}
	skip := func(name string, dir bool) bool { return missing[name] || notPacked(name, dir) }
	std := inPrefix(asked.prefix, asked.stdlib)
	p.tree(std, asked.stdlib, skip)
	if asked.platlib != asked.stdlib {
		p.tree(inPrefix(asked.execPrefix, asked.platlib), asked.platlib, skip)
	}
	packSite(p, asked, maxSite)
	// The pretty-printers of C++ containers import a package from another directory.
	scripts, _ := fs.Glob(os.DirFS(asked.data), "auto-load/*/*/*/*-gdb.py")
	for _, s := range scripts {
		text, _ := os.ReadFile(filepath.Join(asked.data, s))
		if dir := pythonDir.FindSubmatch(text); dir != nil {
			p.tree(std, string(dir[1]), notPacked)
		}
	}
}

// maxSite bounds the size of the site's Python packages that are packed, in bytes of disk: users'
// pretty-printers import small ones, and a node does not need a machine-learning library.
const maxSite = 64 << 20

// packSite packs the site's Python packages, unless they are too large together. Libraries that
// only their C modules need are not packed: the node may have them.
func packSite(p *packer, asked answers, most int64) {
	skip := func(name string, dir bool) bool { return !isSite(name) && notPacked(name, dir) }
	for _, dir := range asked.site {
		filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // p.tree skips it too
			}
			if skip(e.Name(), e.IsDir()) && e.IsDir() {
				return fs.SkipDir
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				most -= onDisk(info.Size())
			}
			return nil
		})
	}
	if most < 0 {
		return
	}
	for _, dir := range asked.site {
		p.tree(inPrefix(asked.prefix, dir), dir, skip)
	}
}

// pythonDir matches the line in libstdc++'s script that names the directory of its package
// (hook.in of GCC's libstdc++-v3/python).
var pythonDir = pattern.New(`(?m)^pythondir = '(/[^']+)'`)

// inPrefix returns the place in the archive of a directory below Python's prefix.
func inPrefix(prefix, dir string) string {
	rel, err := filepath.Rel(prefix, dir)
	if err != nil || !filepath.IsLocal(rel) {
		rel = filepath.Join("lib", filepath.Base(dir))
	}
	return "python/" + filepath.ToSlash(rel)
}

// notPacked reports whether a file or directory of the standard library is left out: tests,
// graphical interfaces and installers, which no debugger imports, and the site's packages, for
// which see packSite.
func notPacked(name string, dir bool) bool {
	if !dir {
		return strings.HasSuffix(name, ".opt-1.pyc") || strings.HasSuffix(name, ".opt-2.pyc") || strings.HasSuffix(name, ".a")
	}
	switch name {
	case "test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip":
		return true
	}
	return isSite(name) || strings.HasPrefix(name, "config-")
}

// isSite reports whether a directory has the site's packages. The standard library of most
// installations contains one.
func isSite(name string) bool { return name == "site-packages" || name == "dist-packages" }

// runnerName is the name of the script in the archive that is run in place of gdb.
const runnerName = "gdb"

// runner returns the script that runs the gdb beside it. It passes the library path to the loader
// as an option, because the children of gdb would inherit LD_LIBRARY_PATH. They inherit PYTHONHOME
// and GCONV_PATH only.
func (g *GDB) runner(p *packer) string {
	line := `"$d/bin/gdb"`
	if g.loader != "" {
		line = fmt.Sprintf(`"$d/lib/%s" --library-path "$d/lib" `, path.Base(g.loader)) + line
	}
	text := "#!/bin/sh\nd=${0%/*}\n"
	if p.has("python/") {
		text += "PYTHONHOME=$d/python; export PYTHONHOME\n"
	}
	if p.has("gconv/") {
		text += "GCONV_PATH=$d/gconv; export GCONV_PATH\n"
	}
	if p.has("data/") {
		line += ` --data-directory="$d/data"`
	}
	return text + "exec " + line + ` "$@"` + "\n"
}

// answers is what a gdb reports about its installation.
type answers struct {
	data               string   // its data directory; "": there is none
	prefix, execPrefix string   // of its Python
	stdlib, platlib    string   // directories of its Python library; "": it has no Python
	site               []string // directories with the site's packages
}

// askTime is how long gdb may take to report about its installation, and its loader to list
// libraries: they may be read from a slow file system with a cold cache.
const askTime = 30 * time.Second

// ask runs the gdb, which reports about its installation.
func (g *GDB) ask(ctx context.Context) (answers, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.path, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "show data-directory", "-ex",
		`python import sys, sysconfig, site, json; print("python " + json.dumps([sys.base_prefix, sys.base_exec_prefix, sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"]] + [d for d in site.getsitepackages() if d in sys.path]))`)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output() // a gdb without Python reports that and fails
	a, ok := readAnswers(string(out))
	if !ok {
		if err == nil {
			err = errors.New("it does not name its data directory")
		}
		return a, fmt.Errorf("%s: %w", g.path, err)
	}
	for _, dir := range []*string{&a.data, &a.stdlib} {
		if info, err := os.Stat(*dir); err != nil || !info.IsDir() {
			*dir = ""
		}
	}
	return a, nil
}

// dataDirectory matches gdb's text in the C locale (GDB manual, Data Files).
var dataDirectory = pattern.New(`(?m)^GDB's data directory is "([^"\n]*)"\.`)

// readAnswers reads the output that ask requests; ok if gdb has reported its data directory.
func readAnswers(text string) (a answers, ok bool) {
	if m := dataDirectory.FindStringSubmatch(text); m != nil {
		a.data, ok = m[1], true
	}
	for line := range strings.Lines(text) {
		said, is := strings.CutPrefix(line, "python ")
		var dirs []string
		if !is || json.Unmarshal([]byte(said), &dirs) != nil || len(dirs) < 4 ||
			slices.ContainsFunc(dirs, func(d string) bool { return !filepath.IsAbs(d) }) {
			continue
		}
		a.prefix, a.execPrefix, a.stdlib, a.platlib, a.site = dirs[0], dirs[1], dirs[2], dirs[3], dirs[4:]
	}
	return a, ok
}

// libraries returns the files of the libraries that a program or a library needs, by the names
// that the loader looks for. It runs the loader for that, as ldd does.
func (g *GDB) libraries(ctx context.Context, file string) (map[string]string, error) {
	if g.loader == "" {
		return map[string]string{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, g.loader, "--list", file).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: its libraries cannot be found: %w", file, err)
	}
	libs, missing := readLibraries(string(out))
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: needs %s, which is not found", file, strings.Join(missing, ", "))
	}
	return libs, nil
}

// readLibraries reads the list of a loader: "NAME => FILE (ADDRESS)", or "not found" in place of
// the file. The vDSO and the loader itself have no arrow.
func readLibraries(text string) (libs map[string]string, missing []string) {
	libs = map[string]string{}
	for line := range strings.Lines(text) {
		name, file, arrow := strings.Cut(strings.TrimSpace(line), " => ")
		if !arrow || name == "" || strings.Contains(name, "/") || name == "." || name == ".." {
			continue
		}
		if i := strings.LastIndex(file, " (0x"); i >= 0 {
			file = file[:i]
		}
		switch {
		case file == "not found":
			missing = append(missing, name)
		case filepath.IsAbs(file):
			libs[name] = file
		}
	}
	return libs, missing
}
