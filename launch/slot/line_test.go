package slot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// aProgram reports whether a word of these tests could be started.
func aProgram(word string) bool { return word == "./app" || word == "./other" || word == "/bin/app" }

func TestParse(t *testing.T) {
	const orterun, hydra = "/usr/bin/orterun", "/usr/bin/mpiexec.hydra"
	cases := []struct {
		name, line, resolved string
		want                 string // the line, with "S i --" before each program
		ranks                int
	}{
		{"plain", "mpirun -n 4 ./app a", orterun, "mpirun -n 4 S 0 -- ./app a", 4},
		{"no number", "mpirun ./app", orterun, "mpirun S 0 -- ./app", 0},
		{"two dashes", "mpirun --np 4 --bind-to none ./app -n 5", orterun, "mpirun --np 4 --bind-to none S 0 -- ./app -n 5", 4},
		{"two values", "mpirun --mca btl tcp,self -np 2 -x A=B ./app", orterun, "mpirun --mca btl tcp,self -np 2 -x A=B S 0 -- ./app", 2},
		{"no values", "mpirun -oversubscribe --tag-output -n 2 app", orterun, "mpirun -oversubscribe --tag-output -n 2 S 0 -- app", 2},
		{"several programs", "mpirun -n 2 ./app 1 : -n 3 -x B=1 ./other", orterun, "mpirun -n 2 S 0 -- ./app 1 : -n 3 -x B=1 S 1 -- ./other", 5},
		{"one without a number", "mpirun -n 2 ./app : ./other", orterun, "mpirun -n 2 S 0 -- ./app : S 1 -- ./other", 0},
		{"-s of Open MPI has no value", "mpirun -s app", orterun, "mpirun -s S 0 -- app", 0},
		{"Hydra", "mpiexec.mpich -genv A B -ppn 2 -n 4 app x y", hydra, "mpiexec.mpich -genv A B -ppn 2 -n 4 S 0 -- app x y", 4},
		{"Hydra's equals sign", "mpiexec -np=4 -hosts=a,b app", hydra, "mpiexec -np=4 -hosts=a,b S 0 -- app", 4},
		{"Hydra's launcher", "mpiexec -launcher ssh -launcher-exec ./rsh -hosts a,b app", hydra, "mpiexec -launcher ssh -launcher-exec ./rsh -hosts a,b S 0 -- app", 0},
		{"-s of Hydra has one", "mpiexec -s all app", hydra, "mpiexec -s all S 0 -- app", 0},
		{"somebody's mpirun", "mympirun -n 2 --mca a b -genv C D ./app", "/opt/bin/mympirun", "mympirun -n 2 --mca a b -genv C D S 0 -- ./app", 2},
		{"unknown option with a value", "mpirun -frob 7 -n 2 ./app", orterun, "mpirun -frob 7 -n 2 S 0 -- ./app", 2},
		{"unknown option without one", "mpirun -n 2 -frob ./app x", orterun, "mpirun -n 2 -frob S 0 -- ./app x", 2},
		{"unknown option before another", "mpirun -frob -n 2 ./app x", orterun, "mpirun -frob -n 2 S 0 -- ./app x", 2},
		{"unknown option before the last word", "mpirun -frob app", orterun, "mpirun -frob S 0 -- app", 0},
		{"oshrun", "oshrun --mca a b -s -np 2 ./app", orterun, "oshrun --mca a b -s -np 2 S 0 -- ./app", 2},
		{"prun", "prun --map-by node -n 2 ./app", "", "prun --map-by node -n 2 S 0 -- ./app", 2},
		{"jsrun", "jsrun -X 1 --nrs 6 -a 1 -c 7 -b packed:7 -M -gpu -dpacked ./app -n 3", "", "jsrun -X 1 --nrs 6 -a 1 -c 7 -b packed:7 -M -gpu -dpacked S 0 -- ./app -n 3", 0},
		{"jsrun's number", "jsrun -p 4 -r1 --smpiargs=off ./app", "", "jsrun -p 4 -r1 --smpiargs=off S 0 -- ./app", 4},
		{"srun", "srun -n 4 -N2 --mpi=pmi2 app", "", "srun -n 4 -N2 --mpi=pmi2 S 0 -- app", 4},
		{"srun's glued letters", "srun -ln4 -pdebug app", "", "srun -ln4 -pdebug S 0 -- app", 0},
		{"srun's glued number", "srun -l -n4 app", "", "srun -l -n4 S 0 -- app", 4},
		{"srun's letters without values", "srun -luK1 -n 2 app", "", "srun -luK1 -n 2 S 0 -- app", 2},
		{"srun's long options", "srun --ntasks 6 --nodelist n1,n2 --label --overlap app", "", "srun --ntasks 6 --nodelist n1,n2 --label --overlap S 0 -- app", 6},
		{"srun's shortened options", "srun --part debug --nodel n1 app", "", "srun --part debug --nodel n1 S 0 -- app", 0},
		{"srun's end of options", "srun -n 2 -- app", "", "srun -n 2 S 0 -- app", 2},
		{"srun's several", "srun -n 1 ./app : -n 2 ./other b", "/usr/bin/srun", "srun -n 1 S 0 -- ./app : -n 2 S 1 -- ./other b", 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, err := Parse(strings.Fields(c.line), c.resolved, aProgram)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(l.Wrap(func(i int) []string { return []string{"S", fmt.Sprint(i)} }), " ")
			if got != c.want || l.Ranks() != c.ranks {
				t.Errorf("got  %s (%d ranks)\nwant %s (%d ranks)", got, l.Ranks(), c.want, c.ranks)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct{ name, line, want string }{
		{"nothing", "", "no starter"},
		{"no program", "mpirun -n 4", "which program?"},
		{"nothing behind a colon", "mpirun -n 4 ./app :", "which program?"},
		{"options only behind a colon", "mpirun ./app : -n 2", "which program?"},
		{"nothing before a colon", "mpirun -n 2 : ./app", "which program?"},
		{"file of programs", "mpirun --app apps", "takes the programs from a file"},
		{"Hydra's file of programs", "mpiexec.mpich -configfile=apps", "takes the programs from a file"},
		{"srun's file of programs", "srun --multi-prog apps", "takes the programs from a file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, err := Parse(strings.Fields(c.line), "", aProgram)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v; want %q", l, err, c.want)
			}
		})
	}
}

// FuzzParse checks that Wrap keeps all words in order, with the servers in between.
func FuzzParse(f *testing.F) {
	f.Add("mpirun\x00-n\x004\x00./app", "/usr/bin/orterun")
	f.Add("srun\x00-ln4\x00--mpi=pmi2\x00--\x00a\x00:\x00b", "")
	f.Add("mpiexec\x00-genv\x00A\x00B\x00-np=4\x00a", "mpiexec.hydra")
	f.Fuzz(func(t *testing.T, text, resolved string) {
		argv := strings.Split(text, "\x00")
		l, err := Parse(argv, resolved, aProgram)
		if err != nil {
			return
		}
		at := 0
		for _, p := range l.Programs {
			if p.At <= at || p.End <= p.At || p.End > len(argv) || p.NP < 0 {
				t.Fatalf("%q: %+v", argv, l.Programs)
			}
			at = p.End
		}
		const ours = "\x01ours"
		wrapped := l.Wrap(func(int) []string { return []string{ours} })
		var rest []string
		for i := 0; i < len(wrapped); i++ {
			if wrapped[i] == ours {
				i++ // skip the "--" too
				continue
			}
			rest = append(rest, wrapped[i])
		}
		keep := slices.Clone(argv)
		for i := len(l.Programs) - 1; i >= 0; i-- {
			if at := l.Programs[i].At; l.Programs[i].dashed {
				keep = slices.Delete(keep, at-1, at)
			}
		}
		if !slices.Equal(rest, keep) {
			t.Fatalf("%q became %q", argv, wrapped)
		}
	})
}
