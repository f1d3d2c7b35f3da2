package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// header returns the beginning of an ELF file of the given type.
func header(data, low, high byte) string {
	return "\x7fELF\x02" + string(rune(data)) + strings.Repeat("\x00", 10) + string([]byte{low, high})
}

func TestCheckCore(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"core file", header(1, 4, 0), ""},
		{"core file of another byte order", header(2, 0, 4), ""},
		{"program", header(1, 2, 0), "a program, not a core file"},
		{"program at any address", header(1, 3, 0), "a program, not a core file"},
		{"object", header(1, 1, 0), "not a core file"},
		{"cut short", header(1, 4, 0)[:17], "not a core file"},
		{"text", "#!/bin/sh\nexec something", "not a core file"},
		{"nothing", "", "an empty file"},
		{"packed by zstd", "\x28\xb5\x2f\xfd and so on", "unzstd"},
		{"packed by gzip", "\x1f\x8b\x08", "gunzip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := CheckCore(path)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestCheckCoreOfWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "not a file", dir + "/none": "no such file", dir + "/pipe": "not a file"} {
		if err := CheckCore(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func FuzzNotCore(f *testing.F) {
	f.Add([]byte(header(1, 4, 0)))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if notCore(head) == "" && !strings.HasPrefix(string(head), "\x7fELF") {
			t.Errorf("%q is taken for a core file", head)
		}
	})
}
