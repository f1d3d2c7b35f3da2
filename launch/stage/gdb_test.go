package stage

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestReadLibraries(t *testing.T) {
	libs, missing := readLibraries(`	linux-vdso.so.1 (0x00007ffd)
	libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f88)
	libodd.so => /opt/with => arrow (0x1)/libodd.so (0x00007f88)
	libgone.so.1 => not found
	/opt/own/libx.so => /opt/own/libx.so (0x00007f88)
	.. => /lib/evil (0x00007f88)
	/lib64/ld-linux-x86-64.so.2 (0x00007f89)
`)
	want := map[string]string{"libm.so.6": "/lib/x86_64-linux-gnu/libm.so.6", "libodd.so": "/opt/with => arrow (0x1)/libodd.so"}
	if !maps.Equal(libs, want) || !slices.Equal(missing, []string{"libgone.so.1"}) {
		t.Errorf("%v, missing %v", libs, missing)
	}
}

func FuzzReadLibraries(f *testing.F) {
	f.Add("a => /b (0x1)\nc => not found\n/x (0x2)\n")
	f.Fuzz(func(t *testing.T, text string) {
		libs, _ := readLibraries(text)
		for name, file := range libs {
			if !filepath.IsLocal(name) || filepath.Base(name) != name || !filepath.IsAbs(file) {
				t.Errorf("%q from %q", name, file)
			}
		}
	})
}

func TestReadAnswers(t *testing.T) {
	const data = "GDB's data directory is \"/usr/share/gdb\".\n"
	for _, c := range []struct {
		text string
		want answers
		ok   bool
	}{
		{data + `python ["/usr", "/usr", "/usr/lib/python3.11", "/usr/lib/python3.11"]` + "\n", answers{"/usr/share/gdb", "/usr", "/usr", "/usr/lib/python3.11", "/usr/lib/python3.11", []string{}}, true},
		{data + `python ["/usr", "/usr", "/l", "/p", "/a", "/b"]` + "\n", answers{"/usr/share/gdb", "/usr", "/usr", "/l", "/p", []string{"/a", "/b"}}, true},
		{data + `python ["/usr", "/usr", "/l", "/p", "b"]` + "\n", answers{data: "/usr/share/gdb"}, true},
		{data, answers{data: "/usr/share/gdb"}, true},
		{data + "python [\"usr\", \"/usr\", \"/a\", \"/b\"]\npython 7\npython [\"/usr\"]\n", answers{data: "/usr/share/gdb"}, true},
		{"gdb: cannot\n", answers{}, false},
	} {
		if got, ok := readAnswers(c.text); !reflect.DeepEqual(got, c.want) || ok != c.ok {
			t.Errorf("%q: %+v, %v", c.text, got, ok)
		}
	}
}

func FuzzReadAnswers(f *testing.F) {
	f.Add("GDB's data directory is \"/usr/share/gdb\".\npython [\"/usr\",\"/usr\",\"/a\",\"/b\"]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if a, _ := readAnswers(text); a.stdlib != "" && !filepath.IsLocal(inPrefix(a.prefix, a.stdlib)) {
			t.Errorf("%+v goes to %s", a, inPrefix(a.prefix, a.stdlib))
		}
	})
}

func TestFindGDB(t *testing.T) {
	script := source(t, "#!/bin/sh\nexec gdb\n")
	for _, c := range []struct{ name, want string }{
		{"no-such-gdb", "no such program here"},
		{script, "is a script, or no program at all"},
		{"/proc/self/exe", ""},
	} {
		g, err := FindGDB(c.name)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, %v", c.name, g, err)
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		}
	}
	g, err := FindGDB("/proc/self/exe") // a program that is not a gdb
	if err == nil {
		_, err = (&GDB{path: "/bin/true", loader: g.loader}).Pack(context.Background())
	}
	if err == nil || !strings.Contains(err.Error(), "does not name its data directory") {
		t.Errorf("a program that is no gdb: %v", err)
	}
}

// files makes files whose contents are their names.
func files(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPackSite packs the site's packages where Python looks for them, and none if they are too
// large.
func TestPackSite(t *testing.T) {
	dir := t.TempDir()
	files(t, dir, "lib/python3/dist-packages/own/__init__.py", "lib/python3/dist-packages/own/tests/a.py", "lib/python3/dist-packages/c.so", "local/lib/python3/site-packages/more.py")
	asked := answers{prefix: dir, site: []string{filepath.Join(dir, "lib/python3/dist-packages"), filepath.Join(dir, "local/lib/python3/site-packages"), filepath.Join(dir, "none")}}
	for most, want := range map[int64][]string{
		3 * blockSize:   {"python/lib/python3/dist-packages/c.so", "python/lib/python3/dist-packages/own/__init__.py", "python/local/lib/python3/site-packages/more.py"},
		3*blockSize - 1: nil,
	} {
		p, err := newPacker()
		if err != nil {
			t.Fatal(err)
		}
		packSite(p, asked, most)
		if got := slices.Sorted(maps.Keys(p.names)); !slices.Equal(got, want) {
			t.Errorf("of %d bytes at most: packed %q, want %q", most, got, want)
		}
		p.drop()
	}
}

// TestPacked packs what a gdb needs and leaves out the rest.
func TestPacked(t *testing.T) {
	dir := t.TempDir()
	files(t, dir, "os.py", "json/__init__.py", "__pycache__/os.cpython-311.pyc", "__pycache__/os.cpython-311.opt-1.pyc",
		"test/big.py", "site-packages/numpy/a.py", "config-3.11-x/lib.a", "lib-dynload/bad.so", "lib-dynload/good.so")
	if err := os.Symlink(dir, filepath.Join(dir, "json", "again")); err != nil { // a cycle
		t.Fatal(err)
	}
	p, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	p.tree("python/lib", dir, func(name string, dir bool) bool { return name == "bad.so" || name == "again" || notPacked(name, dir) })
	want := []string{"python/lib/__pycache__/os.cpython-311.pyc", "python/lib/json/__init__.py", "python/lib/lib-dynload/good.so", "python/lib/os.py"}
	if got := slices.Sorted(maps.Keys(p.names)); !slices.Equal(got, want) {
		t.Errorf("packed %q", got)
	}
	g := &GDB{loader: "/lib64/ld.so.2"}
	if got, want := g.runner(p), "#!/bin/sh\nd=${0%/*}\nPYTHONHOME=$d/python; export PYTHONHOME\nexec \"$d/lib/ld.so.2\" --library-path \"$d/lib\" \"$d/bin/gdb\" \"$@\"\n"; got != want {
		t.Errorf("runner %q", got)
	}
	p.text("gconv/gconv-modules", "")
	if got := g.runner(p); !strings.Contains(got, "GCONV_PATH=$d/gconv; export GCONV_PATH\n") {
		t.Errorf("with modules for character sets: runner %q", got)
	}
	p.tree("python/loop", dir, nil) // ends in spite of the cycle
	p.file("gone", filepath.Join(dir, "gone"))
	if _, err := p.finish(); err == nil || !strings.Contains(err.Error(), "gone: no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
	p.drop()
}
