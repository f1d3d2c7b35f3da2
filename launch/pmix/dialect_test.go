package pmix

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadDialect(t *testing.T) {
	for _, c := range []struct{ text, name, line string }{
		{"mpirun.openmpi (Open MPI) 5.0.7\n\nReport bugs to…", "Open MPI 5.0.7", "m --runtime-options stop-in-init -n 2 app"},
		{"mpirun (Open MPI) 6.0.0rc2\n", "Open MPI 6.0.0", "m --rtos stop-in-init -n 2 app"},
		{"\nprterun (PRRTE) 3.0.8\n", "PRRTE 3.0.8", "m --runtime-options stop-in-init -n 2 app"},
		{"prterun (PRRTE) 3.0.13", "PRRTE 3.0.13", "m --rtos stop-in-init -n 2 app"},
		{"mpirun (Open MPI) 5.0.10", "Open MPI 5.0.10", "m --rtos stop-in-init -n 2 app"},
		{"mpirun (Open MPI) 4.1.4", "", ""},
		{"HYDRA build details:\n    Version: 4.3.0", "", ""},
		{"srun 22.05.8", "", ""},
		{"", "", ""},
	} {
		d, found := readDialect(c.text)
		if found != (c.name != "") || found && d.String() != c.name {
			t.Errorf("%q: %v %v", c.text, d, found)
		}
		if got := strings.Join(d.Held([]string{"m", "-n", "2", "app"}, InInit), " "); found && got != c.line {
			t.Errorf("%q: %s", c.text, got)
		}
	}
}

func TestCanSpawn(t *testing.T) {
	for _, c := range []struct {
		starter Dialect
		library Version
		can     bool
	}{
		{Dialect{"Open MPI", Version{5, 0, 7}}, Version{4, 2, 2}, true},
		{Dialect{"Open MPI", Version{5, 0, 7}}, Version{7, 0, 0}, true},
		{Dialect{"Open MPI", Version{6, 0, 0}}, Version{4, 2, 2}, false},
		{Dialect{"Open MPI", Version{6, 0, 0}}, Version{7, 0, 0}, true},
		{Dialect{"PRRTE", Version{3, 0, 8}}, Version{4, 2, 2}, true},
		{Dialect{"PRRTE", Version{5, 0, 0}}, Version{5, 0, 7}, false},
	} {
		err := c.starter.CanSpawn(c.library)
		if (err == nil) != c.can || err != nil && !strings.Contains(err.Error(), "--pmix-indirect fork") {
			t.Errorf("%s with libpmix %s: %v", c.starter, c.library, err)
		}
	}
}

func FuzzReadDialect(f *testing.F) {
	f.Add("mpirun (Open MPI) 5.0.7")
	f.Fuzz(func(t *testing.T, text string) {
		if d, found := readDialect(text); found && d.Name == "" {
			t.Errorf("%q: %v", text, d)
		}
	})
}

func TestTargetProcess(t *testing.T) {
	for name, want := range map[string]int{"prterun-n0-471@1": 471, "prte-a-b-12@0": 12, "prterun-n0-x@1": 0, "": 0, "flux": 0, "a--5": 5} {
		if got := (Target{Namespace: name}).process(); got != want {
			t.Errorf("%q: %d", name, got)
		}
	}
}

// TestDialectOfSlow has a starter that does not answer in time, which is told as such.
func TestDialectOfSlow(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "mpirun")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 100\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, errors.New("10 ms are over"))
	defer cancel()
	if _, found, err := DialectOf(ctx, slow, nil); found || err == nil || !strings.Contains(err.Error(), "mpirun --version has not answered: 10 ms are over") {
		t.Errorf("found %v, %v", found, err)
	}
	if _, found, err := DialectOf(t.Context(), "/bin/false", nil); found || err != nil {
		t.Errorf("no starter: found %v, %v", found, err)
	}
}
