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
	"regexp"
	"slices"
	"strings"
	"time"
)

// GDB is a gdb of this host that is to run on others.
type GDB struct {
	path   string
	loader string // which maps its libraries (PT_INTERP); "": it is static
}

// FindGDB finds a gdb by path or name. The error says why that one cannot be
// copied to another host.
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

// Pack makes the archive: gdb, its libraries with their loader, its data directory
// and its Python, and a script that runs them together (see runner).
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
	// Character sets are modules of the C library, which are of no use to another one.
	p.tree("gconv", filepath.Join(filepath.Dir(libs["libc.so.6"]), "gconv"), nil)
	p.text(runnerName, g.runner(p))
	return p.finish()
}

// packPython packs the standard library, as far as a debugger may want it, and adds
// to libs what its modules in C need.
func (g *GDB) packPython(ctx context.Context, p *packer, asked answers, libs map[string]string) {
	missing := map[string]bool{} // modules whose own libraries are not here
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
	packSite(p, asked, mostSite)
	// The scripts that show C++ containers import a package which stands elsewhere.
	scripts, _ := fs.Glob(os.DirFS(asked.data), "auto-load/*/*/*/*-gdb.py")
	for _, s := range scripts {
		text, _ := os.ReadFile(filepath.Join(asked.data, s))
		if dir := pythonDir.FindSubmatch(text); dir != nil {
			p.tree(std, string(dir[1]), notPacked)
		}
	}
}

// mostSite bounds what is packed of the packages of the site, in bytes of disk: people's
// printers import small ones, and a node need not get a machine-learning library.
const mostSite = 64 << 20

// packSite packs the packages of the site, unless they are too large together. What their
// modules in C need beyond a gdb's own libraries is not packed: a node may have it.
func packSite(p *packer, asked answers, most int64) {
	skip := func(name string, dir bool) bool { return !isSite(name) && notPacked(name, dir) }
	for _, dir := range asked.site {
		filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // neither will it be packed
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

// pythonDir is how libstdc++'s script names the directory of its package
// (hook.in of GCC's libstdc++-v3/python).
var pythonDir = regexp.MustCompile(`(?m)^pythondir = '(/[^']+)'`)

// inPrefix is where a directory of Python stands below PYTHONHOME.
func inPrefix(prefix, dir string) string {
	rel, err := filepath.Rel(prefix, dir)
	if err != nil || !filepath.IsLocal(rel) {
		rel = filepath.Join("lib", filepath.Base(dir))
	}
	return "python/" + filepath.ToSlash(rel)
}

// notPacked are parts of a standard library that no debugger imports: tests, windows,
// installers; and packages of the site, see packSite.
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

// isSite tells whether a directory has packages of the site; there is one in the standard
// library of most installations.
func isSite(name string) bool { return name == "site-packages" || name == "dist-packages" }

// runnerName is the script in the archive that is run in place of gdb.
const runnerName = "gdb"

// runner runs the gdb beside it. The libraries are named to the loader, since those
// whom gdb starts would inherit LD_LIBRARY_PATH; PYTHONHOME and GCONV_PATH are all that they get.
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

// answers is what a gdb says of itself.
type answers struct {
	data               string   // its data directory; "": there is none
	prefix, execPrefix string   // of its Python
	stdlib, platlib    string   // "": it has none
	site               []string // directories with packages of the site
}

// gdbAnswers is how long gdb may take to say what it is made of: it may have to be
// loaded from a file system that is cold.
const gdbAnswers = 30 * time.Second

func (g *GDB) ask(ctx context.Context) (answers, error) {
	ctx, cancel := context.WithTimeout(ctx, gdbAnswers)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.path, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "show data-directory", "-ex",
		`python import sys, sysconfig, site, json; print("python " + json.dumps([sys.base_prefix, sys.base_exec_prefix, sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"]] + [d for d in site.getsitepackages() if d in sys.path]))`)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output() // a gdb without Python says so and fails
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

// dataDirectory is what gdb says in the C locale (GDB manual, Data Files).
var dataDirectory = regexp.MustCompile(`(?m)^GDB's data directory is "([^"\n]*)"\.`)

// readAnswers reads what ask has gdb say; ok if gdb has answered at all.
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

// libraries gives the files of the libraries that a program or a library needs, by
// the names that the loader looks for: it is asked itself, as ldd does.
func (g *GDB) libraries(ctx context.Context, file string) (map[string]string, error) {
	if g.loader == "" {
		return map[string]string{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gdbAnswers)
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

// readLibraries reads the list of a loader: "NAME => FILE (ADDRESS)", or "not found"
// in place of the file. What the kernel brings, and the loader itself, has no arrow.
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
