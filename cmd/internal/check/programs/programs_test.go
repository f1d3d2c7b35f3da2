package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSourcesSayHow(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plain.c":  "// plain.c\n#include <stdio.h>\n",
		"fast.cc":  "// fast.cc\n//\n// build: g++ -O2 -o $OUT/fast fast.cc\n// mpi: $MPICXX fast.cc\n",
		"grid.f90": "! grid.f90\n!\n! build: gfortran -O2 grid.f90\n",
		"ring.c":   "// ring.c\n#include <mpi.h>\n",
		"late.c":   "#include <stdio.h>\n// build: false\n",
		"head.h":   "// head.h\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain, err := Plain(dir, "/out")
	if err != nil {
		t.Fatal(err)
	}
	mpi, err := MPI(dir, "/out", "mpich")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, cmd := range append(plain, mpi...) {
		got = append(got, cmd.Args[2])
	}
	want := []string{
		"g++ -O2 -o $OUT/fast fast.cc", "gfortran -O2 grid.f90", "gcc -g -O0 -pthread -o $OUT/late late.c",
		"gcc -g -O0 -pthread -o $OUT/plain plain.c", "$MPICXX fast.cc",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if env := strings.Join(mpi[0].Env, " "); !strings.Contains(env, "OUT=/out MPICC=mpicc.mpich MPICXX=mpicxx.mpich") {
		t.Error(env)
	}
}
