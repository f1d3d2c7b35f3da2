package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestRefusalsByWay gives flags to lines of all ways to start, with a program mpirun and one flux in PATH.
func TestRefusalsByWay(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"mpirun", "flux", "srun"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for _, c := range []struct{ args, env, want string }{
		{"a", "", ""},
		{"--launcher-arg x a", "", "--launcher-arg x: no starter is used"},
		{"--starter-args openmpi a", "", "--starter-args: no starter is used"},
		{"--starter-args openmpi a", "SLURM_JOB_ID=1", "--starter-args: no starter is used"},
		{"--launcher-arg x a", "SLURM_JOB_ID=1", ""},
		{"-n 5000 a", "", "-n 5000: on one machine?"},
		{"-n 5000 a", "SLURM_JOB_ID=1", ""},
		{"--map-by node a", "", "--map-by goes with --launcher pmix"},
		{"a", "SDM_MAP_BY=node", ""},

		{"-- mpirun a", "", ""},
		{"-n 4 -- mpirun a", "", "-n 4: the number of ranks belongs to the line of mpirun"},
		{"-- mpirun a", "SDM_NP=4", ""},
		{"--ranks-per-server 2 -- mpirun a", "", "--ranks-per-server: under a starter"},
		{"--launcher slurm --ranks-per-server 2 a", "", "--ranks-per-server: under a starter"},
		{"--launcher-arg x -- mpirun a", "", "--launcher-arg x: write it into the line of mpirun"},
		{"--launcher slurm -- mpirun a", "", "--launcher slurm: mpirun starts the ranks already"},
		{"--map-by node -- mpirun a", "", "--map-by goes with --launcher pmix"},
		{"--pmix-indirect spawn -- mpirun a", "", "--pmix-indirect spawn: it goes with --launcher pmix and a starter"},

		{"--launcher mpir a", "", "--launcher mpir: of which starter?"},
		{"--launcher mpir --stop-at main -- mpirun a", "", "--stop-at main: with --launcher mpir ranks are held in MPI_Init"},
		{"--launcher mpir --env A=1 -- mpirun a", "", "--env: with --launcher mpir the starter alone decides"},
		{"--launcher slot --stop-at main --env A=1 -- mpirun a", "", ""},

		{"--launcher pmix --env-unset A -- mpirun a", "", "--env: with --launcher pmix the starter alone decides"},
		{"--launcher pmix --map-by node -- mpirun a", "", "--map-by: mpirun starts the ranks (write it into its line)"},
		{"--launcher pmix --pmix-indirect spawn -- mpirun a", "", ""},
		{"--launcher pmix --pmix-indirect spawn --stdin-file f -- mpirun a", "", "--stdin-file and --pmix-indirect spawn: "},

		{"--starter-args openmpi -- mpirun a", "", ""},
		{"--starter-args openmpi --start-tool x -- mpirun a", "", "give only one"},
		{"--starter-args openmpi --launcher slot -- mpirun a", "", "not with --launcher slot"},
		{"--starter-args openmpi --env A=1 -- mpirun a", "", "the starter alone decides"},

		{"-- flux run a", "", ""},
		{"--launcher mpir -- flux run a", "", "--launcher mpir: flux run holds its ranks itself"},
		{"--starter-args openmpi -- flux run a", "", "--starter-args: flux exec starts our servers"},
		{"--cwd / -- flux run a", "", "--env and --cwd: Flux decides"},
		{"--launcher flux -n 1 a : -n 1 b", "", "flux run starts one program"},

		{"--launcher pmix a", "", ""},
		{"--launcher pmix --map-by node a", "", ""},
		{"--launcher pmix --launcher-arg x a", "", "--launcher-arg x: a PMIx server takes no arguments"},
		{"--launcher pmix --stop-at main a", "", "--stop-at main: a PMIx server holds ranks in MPI_Init"},
		{"--launcher pmix --tty a", "", "--tty, --stdin and --stdin-file: the PMIx server has the streams"},
		{"--launcher pmix --stage /x a", "", "--stage: the PMIx server starts our servers where they are"},
		{"--launcher pmix --pmix-stop where a", "", "--pmix-stop where: give init, app or exec"},

		{"--reverse --ranks-per-gdb 4 a", "", "--reverse needs a gdb for each rank, not --ranks-per-gdb 4"},
		{"--reverse --stop-at entry a", "", "--reverse records from the first stop on"},
		{"--reverse --stop-at helper a", "", ""},
	} {
		t.Run(c.args+c.env, func(t *testing.T) {
			_, err := parsed(t, strings.Fields(c.env), strings.Fields(c.args)...)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("sdm run %s: %v; want %q", c.args, err, c.want)
			}
		})
	}
}

// byWay returns the flags of each way: the flags of its subcommand.
func byWay() map[way]*flagSet {
	all := map[way]*flagSet{}
	for w := range ways {
		_, rest, _ := strings.Cut(ways[w].typed, "sdm ")
		name, _, _ := strings.Cut(rest, " ")
		s, _ := lookup(name)
		all[way(w)] = s.make(nil).flags()
	}
	return all
}

// TestTableOfFlags checks that the rows name flags that there are, and each refusal a flag that its way has.
func TestTableOfFlags(t *testing.T) {
	flags := byWay()
	for _, r := range rows {
		for _, name := range r.flags {
			for w, p := range r.in {
				if is := flags[w].Lookup(name) != nil; name != severalPrograms && is == (p.kind == missing) && w != wayFrontEnd {
					t.Errorf("--%s in %s: the subcommand has it: %v", name, ways[w].name, is)
				}
			}
		}
	}
}

// The table of flags in docs/launching.md is between these two lines.
const (
	manual    = "../../docs/launching.md"
	tableHead = "## Flags by way\n"
	tableEnd  = "\n## On this host\n"
)

// manualTable returns the text about flags and ways for the manual.
func manualTable() string {
	var b strings.Builder
	b.WriteString("\nWhat a flag does in each way to start or find ranks: + what its help says, - nothing, x it is refused; where\n" +
		"nothing stands, the command does not have it. Flags that are + wherever they are have no row. `sdm help ways`\n" +
		"tells the same by way.\n\n")
	for w, known := range ways {
		fmt.Fprintf(&b, "%d. %s: %s\n", w+1, known.name, known.typed)
	}
	b.WriteString("\n| flag |")
	for w := range ways {
		fmt.Fprintf(&b, " %d |", w+1)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(ways)) + "\n")
	flags := byWay()
	for _, r := range rows {
		marks := ""
		for w := range ways {
			marks += " " + markOf(r, way(w), flags[way(w)]) + " |"
		}
		b.WriteString("| " + r.title() + " |" + marks + "\n")
	}
	b.WriteString("\nWhy they are refused:\n\n")
	for w, known := range ways {
		if all := reasonsIn(way(w)); len(all) > 0 {
			fmt.Fprintf(&b, "* %s\n  * %s\n", known.name, strings.Join(all, "\n  * "))
		}
	}
	return b.String()
}

// title returns the flags of a row, and the values of which it tells.
func (r row) title() string {
	names := make([]string, len(r.flags))
	for i, name := range r.flags {
		if names[i] = "`--" + name + "`"; name == severalPrograms {
			names[i] = "several programs (`:`)"
		}
	}
	said := strings.Join(names, ", ")
	switch {
	case r.values != nil:
		said += " " + strings.Join(r.values, ", ")
	case r.but != nil:
		said += " other than " + strings.Join(slices.DeleteFunc(slices.Clone(r.but), func(s string) bool { return s == "" }), ", ")
	}
	return said
}

func markOf(r row, w way, f *flagSet) string {
	_, said := r.in[w]
	p := r.placeIn(forms(w))
	switch {
	case p.kind == refused:
		return "x"
	case p.kind == ignored:
		return "-"
	case !said && w >= wayReverse:
		return ""
	case r.flags[0] != severalPrograms && f.Lookup(r.flags[0]) == nil || r.flags[0] == severalPrograms && f.Name() != "sdm run":
		return ""
	}
	return "+"
}

// TestManualTable compares the table of docs/launching.md with the one in ways.go; -update writes
// it.
func TestManualTable(t *testing.T) {
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), tableHead)
	now, after, found := strings.Cut(rest, tableEnd)
	if !ok || !found {
		t.Fatalf("%s has no table between %q and %q", manual, tableHead, tableEnd)
	}
	want := manualTable()
	if *update {
		if err := os.WriteFile(manual, []byte(before+tableHead+want+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if now != want {
		t.Errorf("the table of %s is not that of ways.go (go test ./cmd/sdm -run TestManualTable -update)", manual)
	}
}

// TestHiddenFlagsHaveNoEffect checks that help of a subcommand leaves out exactly the flags that do nothing there.
func TestHiddenFlagsHaveNoEffect(t *testing.T) {
	for _, w := range []way{wayAttach, wayLook, wayWatch} {
		byWay()[w].VisitAll(func(f *pflag.Flag) {
			if idle := slices.Contains(flagsOf(w, ignored), f.Name); idle != f.Hidden {
				t.Errorf("%s: --%s has no effect: %v, and is hidden: %v", ways[w].name, f.Name, idle, f.Hidden)
			}
		})
	}
}

// forms returns a way and those that it is a form of.
func forms(w way) (all []way) {
	for ; w >= 0; w = ways[w].of {
		all = append(all, w)
	}
	return all
}
