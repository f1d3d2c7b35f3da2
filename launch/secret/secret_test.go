package secret

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestUserCreatesOneSecret(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	keys := make([]Key, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = User(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, k := range keys {
		if k != keys[0] || k == (Key{}) {
			t.Errorf("caller %d got another key", i)
		}
	}
	info, err := os.Stat(filepath.Join(home, "sdm", "secret"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	left, _ := filepath.Glob(filepath.Join(home, "sdm", ".secret-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestUserWithoutHome(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "")
	if _, err := User(); err == nil || !strings.Contains(err.Error(), "--secret-file") {
		t.Errorf("got %v, want a hint", err)
	}
}

func TestFileRefuses(t *testing.T) {
	dir := t.TempDir()
	good := strings.Repeat("0f", 32)
	cases := []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"group reads", good, 0o640, "others may read or write it, mode 0640"},
		{"world writes", good, 0o602, "mode 0602"},
		{"short", good[2:], 0o600, "want 64 hexadecimal digits"},
		{"long", good + good, 0o600, "want 64 hexadecimal digits"},
		{"no digits", strings.Repeat("zz", 32), 0o600, "want 64 hexadecimal digits"},
		{"empty", "", 0o600, "want 64 hexadecimal digits"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil { // the umask may have changed it
				t.Fatal(err)
			}
			_, err := File(path)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if strings.Contains(fmt.Sprint(err), good[2:]) {
				t.Errorf("the secret is in the error: %v", err)
			}
		})
	}
	if _, err := File(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("directory: %v", err)
	}
	if _, err := File(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing file gave a key")
	}
}

func TestFileOfSomebodyElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(strings.Repeat("0f", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPrivate(path, info, os.Geteuid()+1); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("got %v", err)
	}
}

func TestReadWrite(t *testing.T) {
	k := Fresh()
	var b bytes.Buffer
	if err := k.Write(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("what follows")
	got, err := Read(&b)
	if err != nil || got != k || b.String() != "what follows" {
		t.Errorf("got the key: %v, %v; left %q", got == k, err, b.String())
	}
	if _, err := Read(strings.NewReader("short")); err == nil {
		t.Error("half a key was taken")
	}
}

func TestKeyIsBlind(t *testing.T) {
	k := Fresh()
	for _, format := range []string{"%v", "%s", "%+v", "%#v"} {
		if got := fmt.Sprintf(format, k); strings.Contains(got, fmt.Sprint(k[0])+" ") || len(got) > 16 {
			t.Errorf("%s prints %s", format, got)
		}
	}
}
