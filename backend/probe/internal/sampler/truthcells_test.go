package sampler

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sdm/backend/probe/internal/mpi"
	"sdm/launch/launchtest"
)

// families are the implementations of MPI by the endings of their programs.
var families = []struct{ name, ending, starter string }{{"Open MPI", "openmpi", "mpirun.openmpi"}, {"MPICH", "mpich", "mpiexec.mpich"}}

// TestTruth compares the arguments of blocked calls with what programs say that they wait for: compiled
// in four ways for the MPI of this machine, and in one way for MPIs of other releases; without -thorough the
// families take turns in the three ways that are short. A program ends with a call of its own from which it does not
// return, or with MPI_Finalize.
func TestTruth(t *testing.T) {
	c, kept := New(""), &mpi.Cache{}
	short, elsewhere := "short", "short"
	if *thorough {
		short, elsewhere = "all", "old" // Open MPI 6 has other symbols for mpi_f08
	}
	for k, family := range families {
		for i, way := range []struct {
			flags string
			end   []string
		}{
			{"-O2", []string{"all"}},
			{"-O0", []string{short, "accept"}},
			{"-O3", []string{"threads", "connect"}},
			{"-O2 -g -march=x86-64-v3", []string{short, "spawn"}},
		} {
			if !*thorough && i > 0 && i%2 != k {
				continue
			}
			t.Run(family.name+" "+way.flags, func(t *testing.T) {
				program := compileTruth(t, family.ending, way.end[0] == "all", strings.Fields(way.flags)...)
				play := func(name string, root func(t *testing.T) *launchtest.Root, end ...string) {
					t.Run(name, func(t *testing.T) {
						argv := append([]string{family.starter, "-n", "4", program, "DIRECTORY"}, end...)
						startTruth(t, root(t), program, argv...).compare(t, c, kept).demand(t, leastOf[end[0]])
					})
				}
				play("here", func(*testing.T) *launchtest.Root { return nil }, way.end...)
				if way.flags != "-O2" {
					return
				}
				for _, name := range []string{"trixie", "forky"} {
					play(name, func(t *testing.T) *launchtest.Root { return launchtest.FindRoot(t, name) }, elsewhere)
				}
			})
		}
	}
}

// leastOf are the arguments that must be right, by the mode of the program. There are 1,179, 1,060, 288 and
// 288; missing are calls that return before they are seen, and requests of MPICH with several threads,
// whose library cannot be asked.
var leastOf = map[string]int{"all": 1000, "old": 1000, "short": 230, "threads": 180}

// demand checks counts: none may be wrong, and enough must be known.
func (n counts) demand(t *testing.T, least int) {
	t.Helper()
	t.Logf("%+v", n)
	if n.wrong > 0 || n.right < least {
		t.Errorf("%d arguments right, %d unknown, %d wrong", n.right, n.unknown, n.wrong)
	}
}

// systemPython is the interpreter for which the system has mpi4py; another one may come first in PATH.
const systemPython = "/usr/bin/python3"

// TestTruthOfPython does that with calls from Python. The interpreters of other releases have mpi4py.
func TestTruthOfPython(t *testing.T) {
	script, err := filepath.Abs("testdata/mpitruth/truth.py")
	if err != nil {
		t.Fatal(err)
	}
	play := func(t *testing.T, root *launchtest.Root) {
		startTruth(t, root, script, "mpirun.openmpi", "-n", "4", systemPython, script, "DIRECTORY").compare(t, New(""), &mpi.Cache{}).demand(t, 60)
	}
	t.Run("here", func(t *testing.T) {
		if out, err := exec.Command(systemPython, "-c", "import mpi4py").CombinedOutput(); err != nil {
			t.Fatalf("the Python of this machine has no mpi4py: %s", out)
		}
		play(t, nil)
	})
	for _, name := range []string{"trixie", "forky"} {
		t.Run(name, func(t *testing.T) { play(t, launchtest.FindRoot(t, name)) })
	}
}

// TestTruthOfVendor does that with an MPICH of another name, as vendors ship it, and with one that is not
// as it should be, of which nothing may be said.
func TestTruthOfVendor(t *testing.T) {
	program := compileTruth(t, "mpich", false, "-O2")
	library := filepath.Join(filepath.Dir(program), "libvendor.so.1")
	text, err := exec.Command("mpicc.mpich", "-print-file-name=libmpich.so.12").Output()
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	renamed, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	renamed = bytes.ReplaceAll(renamed, []byte("libmpich.so.12\x00"), []byte("libvendor.so.1\x00"))
	if err := os.WriteFile(program, renamed, 0o700); err != nil {
		t.Fatal(err)
	}
	play := func(t *testing.T) counts {
		if err := os.WriteFile(library, code, 0o600); err != nil {
			t.Fatal(err)
		}
		n := startTruth(t, nil, program, "mpiexec.mpich", "-n", "4", program, "DIRECTORY", "messages").compare(t, New(""), &mpi.Cache{})
		t.Logf("%+v", n)
		return n
	}
	t.Run("renamed", func(t *testing.T) {
		if n := play(t); n.wrong > 0 || n.right < 100 || n.unknown > 0 {
			t.Errorf("%d arguments right, %d unknown, %d wrong", n.right, n.unknown, n.wrong)
		}
	})
	t.Run("patched", func(t *testing.T) {
		f, err := elf.NewFile(bytes.NewReader(code))
		if err != nil {
			t.Fatal(err)
		}
		all, err := f.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(s elf.Symbol) bool { return s.Name == "PMPI_Comm_get_name" })
		x := f.Sections[all[i].Section]
		copy(code[all[i].Value-x.Addr+x.Offset:], "\xb8\x01\x00\x00\x00\xc3") // mov eax, 1; ret
		if n := play(t); n.wrong > 0 || n.right > 0 || n.unknown < 100 {
			t.Errorf("%d arguments right, %d unknown, %d wrong", n.right, n.unknown, n.wrong)
		}
	})
}
