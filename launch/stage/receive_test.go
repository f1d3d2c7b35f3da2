package stage

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/protocol"
)

// TestMain also runs as a server that is killed: it takes a gdb, prints its path, and waits.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TEST_STAGE_DIR"); dir != "" {
		file, err := os.Open(os.Getenv("TEST_STAGE_ARCHIVE"))
		if err == nil {
			var data []byte
			if data, err = io.ReadAll(file); err == nil {
				r := &Receiver{}
				p := protocol.Piece{Dir: dir, Hash: os.Getenv("TEST_STAGE_HASH"), Packed: int64(len(data)), Unpacked: 1 << 20, Data: data}
				if err = r.Take(p); err == nil {
					os.Stdout.WriteString(r.Path() + "\n")
				}
			}
		}
		if err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
		}
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// packed makes an archive of some files and a script in place of gdb.
func packed(t *testing.T, script string) (*Archive, []byte) {
	t.Helper()
	p, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	p.file("lib/data", source(t, strings.Repeat("data", 5000)))
	p.text(runnerName, script)
	a, err := p.finish()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	data, err := io.ReadAll(a)
	if err != nil || int64(len(data)) != a.Packed {
		t.Fatalf("%d of %d bytes, %v", len(data), a.Packed, err)
	}
	return a, data
}

const goodScript = "#!/bin/sh\ncat \"${0%/*}/lib/data\"\n"

func TestReceiver(t *testing.T) {
	a, data := packed(t, goodScript)
	dir := t.TempDir()
	r := &Receiver{}
	half := len(data) / 2
	p := protocol.Piece{Dir: dir, Hash: a.Hash, Packed: a.Packed, Unpacked: a.Unpacked, Data: data[:half]}
	if err := r.Take(p); err != nil || r.Path() != "" {
		t.Fatalf("%q, %v", r.Path(), err)
	}
	p.At, p.Data = int64(half), data[half:]
	if err := r.Take(p); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(r.Path()).Output()
	if err != nil || string(out) != strings.Repeat("data", 5000) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	other := &Receiver{} // another process's: its sweep must not remove the first one's files
	whole := p
	whole.At, whole.Data = 0, data
	if err := other.Take(whole); err != nil || other.Path() == r.Path() {
		t.Errorf("a second server: %v, %s and %s", err, other.Path(), r.Path())
	}
	other.Close()
	if _, err := os.Stat(r.Path()); err != nil {
		t.Error(err)
	}
	r.Close()
	if n := left(t, dir); n != 0 || r.Path() != "" {
		t.Errorf("%d files are left", n)
	}
	if err := r.Take(whole); err == nil {
		t.Error("it takes more after its end")
	}
	if ((*Receiver)(nil)).Path() != "" {
		t.Error("none has a gdb")
	}
}

// TestReceiverRefuses checks that a refused piece leaves nothing behind, and that later pieces are
// refused for the same reason.
func TestReceiverRefuses(t *testing.T) {
	a, data := packed(t, goodScript)
	b, bad := packed(t, "#!/bin/sh\necho cannot >&2\nexit 3\n")
	dir := t.TempDir()
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	good := protocol.Piece{Dir: dir, Hash: a.Hash, Packed: a.Packed, Unpacked: a.Unpacked, Data: data}
	for _, c := range []struct {
		name   string
		change func(*protocol.Piece)
		want   string
	}{
		{"another hash", func(p *protocol.Piece) { p.Hash = strings.Repeat("0", 64) }, "what has come is not what was sent"},
		{"no directory", func(p *protocol.Piece) { p.Dir = filepath.Join(dir, "none") }, "/none: no such file or directory"},
		{"a file", func(p *protocol.Piece) { p.Dir = "/etc/passwd" }, "/etc/passwd: not a directory"},
		{"a directory in which all users may rename", func(p *protocol.Piece) { p.Dir = open }, open + ": all users may rename what lies there (mode 0777"},
		{"not absolute", func(p *protocol.Piece) { p.Dir = "tmp" }, "tmp: not an absolute path"},
		{"full", func(p *protocol.Piece) { p.Dir = "/proc" }, "/proc: "},
		{"a piece is missing", func(p *protocol.Piece) { p.At = 5 }, "a piece at 5 of"},
		{"more data than announced", func(p *protocol.Piece) { p.Packed-- }, "has come after 0"},
		{"an announced size that cannot be", func(p *protocol.Piece) { p.Unpacked = 1 << 40 }, "cannot be"},
		{"unpacked it is larger than announced", func(p *protocol.Piece) { p.Unpacked = 100 }, "it takes more than it was said to"},
		{"a gdb that does not run", func(p *protocol.Piece) { p.Hash, p.Packed, p.Unpacked, p.Data = b.Hash, b.Packed, b.Unpacked, bad }, "does not run here: exit status 3: cannot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := good
			c.change(&p)
			r := &Receiver{}
			defer r.Close()
			err := r.Take(p)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if again := r.Take(p); again == nil || again.Error() != err.Error() {
				t.Errorf("again: %v", again)
			}
			if n := left(t, dir); n != 0 || r.Path() != "" {
				t.Errorf("%d files are left, path %q", n, r.Path())
			}
		})
	}
}

// TestReceiverKilled checks that the files of a killed process are removed.
func TestReceiverKilled(t *testing.T) {
	a, data := packed(t, goodScript)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_STAGE_DIR="+dir, "TEST_STAGE_ARCHIVE="+source(t, string(data)), "TEST_STAGE_HASH="+a.Hash)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal("it does not start")
	}
	defer in.Close()
	line := make([]byte, 4096)
	n, _ := out.Read(line)
	if path := strings.TrimSpace(string(line[:n])); filepath.Dir(filepath.Dir(path)) != dir {
		t.Fatalf("it said %q", path)
	}
	cmd.Process.Kill()
	cmd.Wait()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); left(t, dir) > 0; {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("what the killed one has made is still there")
		}
	}
}

// TestSweep checks that exactly the files of ended processes are removed.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	lock, err := ownLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for _, name := range []string{"sdm-gdb-1/lib", "sdm-gdb-2", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sdm-gdb-1.lock", "other.lock"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Opening it must not block.
	if err := syscall.Mkfifo(filepath.Join(dir, "sdm-gdb-3.lock"), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	for name, want := range map[string]bool{"sdm-gdb-1": false, "sdm-gdb-1.lock": false, "sdm-gdb-2": true, "other": true, "other.lock": true, filepath.Base(lock.Name()): true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// archiveOf makes archives that Pack does not make.
func archiveOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, h := range headers {
		h.Mode = 0o777
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Write(make([]byte, h.Size))
	}
	w.Close()
	zip.Close()
	return b.Bytes()
}

func TestUnpackRefuses(t *testing.T) {
	for name, headers := range map[string][]tar.Header{
		"above":  {{Name: "../x", Typeflag: tar.TypeReg}},
		"root":   {{Name: "/tmp/x", Typeflag: tar.TypeReg}},
		"a link": {{Name: "x", Typeflag: tar.TypeSymlink, Linkname: "/etc"}},
		"twice":  {{Name: "x", Typeflag: tar.TypeReg}, {Name: "x", Typeflag: tar.TypeReg}},
		"large":  {{Name: "x", Typeflag: tar.TypeReg, Size: 1 << 20}},
	} {
		if err := unpack(bytes.NewReader(archiveOf(t, headers...)), t.TempDir(), 1<<16); err == nil {
			t.Errorf("%s: unpacked", name)
		}
	}
}

// FuzzUnpack checks that only files below the directory are made.
func FuzzUnpack(f *testing.F) {
	f.Add(archiveOf(f, tar.Header{Name: "a/b", Typeflag: tar.TypeReg, Size: 3}))
	f.Add(archiveOf(f, tar.Header{Name: "../b", Typeflag: tar.TypeReg}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		above := t.TempDir()
		dir := filepath.Join(above, "in")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		unpack(bytes.NewReader(b), dir, 1<<16)
		if left(t, above) != 1 {
			t.Error("something is beside it")
		}
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() && !d.Type().IsRegular() {
				t.Errorf("%s: %v, %v", path, d, err)
			}
			return nil
		})
	})
}
