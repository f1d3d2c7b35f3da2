package pmix

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const secretURI = "prte-n0-27@0.0;tcp4://10.0.0.1:4711"

func fileOf(pid, uid int) string {
	return fmt.Sprintf("%s\n5.0.7a1\n%d\n%d:0\nMon Nov 23 17:12:48 2026\n", secretURI, pid, uid)
}

// write makes a rendezvous file below a directory for temporary files.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParseRendezvous(t *testing.T) {
	r, err := ParseRendezvous(fileOf(27, 0))
	if err != nil || r.PID != 27 || r.UID != 0 || r.Version != (Version{5, 0, 7}) || r.URI.Reveal() != secretURI || r.URI.Namespace() != "prte-n0-27@0" {
		t.Errorf("%+v %v", r, err)
	}
	r, err = ParseRendezvous("a.b.0;tcp\n")
	if err != nil || r.PID != 0 || r.UID != -1 || r.Version.IsKnown() || r.URI.Namespace() != "a.b" {
		t.Errorf("%+v %v", r, err)
	}
	for name, text := range map[string]string{
		"empty": "", "no namespace": "tcp4://x\n", "blank": "a b.0;tcp\n", "version": "a.0;t\nnew\n1\n", "pid": "a.0;t\n5.0\n-3\n",
		"owner": "a.0;t\n5.0\n1\nroot:0\n", "long": "a.0;" + strings.Repeat("x", maxFile),
	} {
		if r, err := ParseRendezvous(text); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestURIIsNotShown prints a server in all ways in which it might get into a message.
func TestURIIsNotShown(t *testing.T) {
	r, err := ParseRendezvous(fileOf(27, 0))
	if err != nil {
		t.Fatal(err)
	}
	f := Found{Rendezvous: r}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{fmt.Sprint(f), fmt.Sprintf("%+v %#v %s %q %x", f, f, f.URI, f.URI, f.URI), string(text), (&NoServer{Several: []Found{f, f}}).Error()} {
		if strings.Contains(said, "4711") || strings.Contains(said, "3437") {
			t.Errorf("the address is shown: %s", said)
		}
	}
}

func TestSearch(t *testing.T) {
	dir, me, pid := t.TempDir(), os.Geteuid(), os.Getpid()
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "prte.n0.1.0/pmix."+here+".tool.1", fileOf(pid, me))
	write(t, dir, "prte.n0.1.0/pmix."+here+".tool.prte-n0-27@0", fileOf(pid, me))
	write(t, dir, "prte.n0.1.0/hwloc.sm", "x")
	write(t, dir, "deep/er/pmix."+here+".tool.9", fileOf(pid, me))
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "prte.n0.2.0/pmix."+here+".tool.2", fileOf(dead.Process.Pid, me))
	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	for end := time.Now().Add(10 * time.Second); statOf(zombie.Process.Pid)[0] != "Z" && time.Now().Before(end); {
		runtime.Gosched()
	}
	write(t, dir, "prte.n0.6.0/pmix."+here+".tool.6", fileOf(zombie.Process.Pid, me))
	old := write(t, dir, "prte.n0.3.0/pmix."+here+".tool.3", fileOf(pid, me))
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-240*time.Hour)); err != nil {
		t.Fatal(err)
	}
	open := write(t, dir, "prte.n0.4.0/pmix."+here+".tool.4", fileOf(pid, me))
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(old, filepath.Join(dir, "pmix.sys."+here)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "prted.n7.5.0/pmix.n7.tool.5", fileOf(pid, me)) // on a directory that hosts share
	found, passed := Search([]string{dir})
	if len(found) != 2 {
		t.Errorf("found %+v", found)
	}
	want := map[string]string{"tool.2": "has ended", "tool.6": "has not waited for it", "tool.3": "younger than the file", "tool.4": "other users may write", "sys.": "symbolic", "n7.tool.5": "its server is on host n7"}
	for part, why := range want {
		if !contains(passed, part, why) {
			t.Errorf("%s should be passed by (%s): %v", part, why, passed)
		}
	}
	one, err := Choose(Target{}, found, passed) // two files, one server
	if err != nil || one.PID != pid {
		t.Errorf("%+v %v", one, err)
	}
}

func contains(passed []Passed, part, why string) bool {
	for _, p := range passed {
		if strings.Contains(p.File, part) && strings.Contains(p.Why.Error(), why) {
			return true
		}
	}
	return false
}

func server(pid int, namespace string, system bool) Found {
	return Found{Rendezvous{URI: NewURI(namespace + ".0;x"), PID: pid}, system}
}

func TestChoose(t *testing.T) {
	all := []Found{server(17503, "prte-n0-17503@0", false), server(1, "prterun-n0-1@0", false)}
	spread := []Found{server(31, "prte-n0-9@0", false), server(9, "prte-n0-9@0", false)}
	spread[0].URI = NewURI("prte-n0-9@0.2;x")
	system := append(all, server(2, "prte-n0-2@0", true))
	for name, c := range map[string]struct {
		target Target
		found  []Found
		want   int // process id; 0: none
		says   string
	}{
		"pid is exact":      {Target{PID: 1}, all, 1, ""},
		"no such pid":       {Target{PID: 17}, all, 0, "with process id 17"},
		"namespace":         {Target{Namespace: "prterun-n0-1@0"}, all, 1, ""},
		"namespace of job":  {Target{Namespace: "prterun-n0-1@1"}, all, 1, ""},
		"no such namespace": {Target{Namespace: "prte-n0-1@0"}, all, 0, "for namespace prte-n0-1@0"},
		"several":           {Target{}, all, 0, "several PMIx servers"},
		"system first":      {Target{}, system, 2, ""},
		"of several nodes":  {Target{}, spread, 9, ""},
		"of one node":       {Target{PID: 31}, spread, 31, ""},
		"none":              {Target{}, nil, 0, "no PMIx server of yours"},
	} {
		f, err := Choose(c.target, c.found, []Passed{{"/tmp/x", errors.New("stale")}})
		if f.PID != c.want || (err == nil) != (c.want != 0) {
			t.Errorf("%s: %d, %v", name, f.PID, err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "passed by: /tmp/x: stale")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDirectories(t *testing.T) {
	got := Directories([]string{"TMPDIR=/scratch/", "TMP=here", "PMIX_SYSTEM_TMPDIR=/var/run", "HOME=/root"})
	if fmt.Sprint(got) != "[/scratch /tmp /var/run]" {
		t.Error(got)
	}
}

func TestHarm(t *testing.T) {
	for _, c := range []struct {
		program string
		version Version
		harm    bool
	}{
		{"orterun", Version{4, 2, 2}, true}, {"slurmstepd", Version{4, 2, 2}, true}, {"slurmstepd", Version{5, 0, 7}, false},
		{"prte", Version{4, 2, 2}, false}, {"prterun", Version{5, 0, 7}, false}, {"mpirun", Version{}, true},
	} {
		var h *Harm
		if err := harmOf(c.program, c.version); errors.As(err, &h) != c.harm {
			t.Errorf("%s %s: %v", c.program, c.version, err)
		}
	}
}

// FuzzRendezvous checks that no content leads to a panic or to a server without a namespace.
func FuzzRendezvous(f *testing.F) {
	f.Add(fileOf(27, 0))
	f.Add("a.0;x\nv7.0.0rc1\n1\n0:0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseRendezvous(text); err == nil && (r.URI.Namespace() == "" || r.PID < 0 || r.UID < -1) {
			t.Errorf("%+v", r)
		}
	})
}
