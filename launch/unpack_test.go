package launch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// packedBytes returns a text as packed by a program; "gzip" is none.
func packedBytes(t *testing.T, program, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	if program == "gzip" {
		w := gzip.NewWriter(&out)
		w.Write([]byte(text))
		w.Close()
		return out.Bytes()
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no %s on this host", program)
	}
	cmd := exec.Command(program, "-cq")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func newTestUnpacker(t *testing.T) *Unpacker {
	t.Helper()
	u, err := NewUnpacker(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func inFile(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "core.packed")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnpackCore(t *testing.T) {
	holes := strings.Repeat("\x00", 9<<20)
	text := header(1, 4, 0) + holes + "end of the memory\x00\x00"
	for _, program := range []string{"gzip", "zstd", "lz4", "xz"} {
		t.Run(program, func(t *testing.T) {
			path := inFile(t, packedBytes(t, program, text))
			if !IsPacked(path) {
				t.Error("it is not taken for a packed file")
			}
			u := newTestUnpacker(t)
			whole, err := u.Core(t.Context(), path, "0.core")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(whole); err != nil || string(got) != text {
				t.Errorf("%d bytes, %v, want %d", len(got), err, len(text))
			}
			info, err := os.Stat(whole)
			if err != nil {
				t.Fatal(err)
			}
			if disk := info.Sys().(*syscall.Stat_t).Blocks * 512; disk > 1<<20 || info.Mode() != 0o600 {
				t.Errorf("it takes %d bytes of disk, mode %v", disk, info.Mode())
			}
			if err := u.Remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(u.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is there still: %v", err)
			}
		})
	}
}

func TestUnpackCoreRefuses(t *testing.T) {
	core := header(1, 4, 0) + strings.Repeat("memory of a process ", 1<<16)
	short := func(t *testing.T, program string) []byte {
		t.Helper()
		b := packedBytes(t, program, core)
		return b[:len(b)-9]
	}
	for _, c := range []struct {
		name string
		text func(t *testing.T) []byte
		disk int64
		want string
	}{
		{"text", func(t *testing.T) []byte { return packedBytes(t, "gzip", "#!/bin/sh\nexec something") }, 1 << 30, "unpacked it is not a core file"},
		{"nothing", func(t *testing.T) []byte { return packedBytes(t, "gzip", "") }, 1 << 30, "an empty file when it is unpacked"},
		{"cut short by gzip", func(t *testing.T) []byte { return short(t, "gzip") }, 1 << 30, "cut short"},
		{"cut short by zstd", func(t *testing.T) []byte { return short(t, "zstd") }, 1 << 30, "damaged (zstd: "},
		{"cut short by xz", func(t *testing.T) []byte { return short(t, "xz") }, 1 << 30, "damaged (xz: "},
		{"more than the limit", func(t *testing.T) []byte { return packedBytes(t, "gzip", core) }, 1 << 20, "more than the 1 MB that may be used"},
		{"more than the limit, by an external program", func(t *testing.T) []byte { return packedBytes(t, "zstd", core) }, 1 << 20, "more than the 1 MB"},
		{"not packed", func(*testing.T) []byte { return []byte(core) }, 1 << 30, "not a packed file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := inFile(t, c.text(t))
			u := newTestUnpacker(t)
			u.Disk = c.disk
			_, err := u.Core(t.Context(), path, "0.core")
			if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir(u.Dir); len(left) != 0 || u.Disk != c.disk {
				t.Errorf("%v is left, and room for %d bytes", left, u.Disk)
			}
		})
	}
}

func TestUnpackCoreWithoutItsProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for magic, want := range map[string]string{"\x28\xb5\x2f\xfd": "zstd", "\x04\x22\x4d\x18": "lz4", "\xfd7zXZ\x00": "xz"} {
		path := inFile(t, []byte(magic+"and so on"))
		if _, err := newTestUnpacker(t).Core(t.Context(), path, "0.core"); err == nil ||
			!strings.Contains(err.Error(), "there is no "+want+" on this host (install it, or unpack the file first: un"+want+")") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestUnpackCoreEnds(t *testing.T) {
	why := errors.New("ended by SIGINT")
	for _, program := range []string{"gzip", "zstd"} {
		path := inFile(t, packedBytes(t, program, header(1, 4, 0)))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err := newTestUnpacker(t).Core(ctx, path, "0.core"); err == nil {
			t.Errorf("%s: a file is unpacked after the end", program)
		}
	}
}
