package pmix

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the tables about PMIx in docs/launching.md anew")

// renamed are the names of the source documents that libpmix 5.0 does not have, or has as old names
// only, and the names to use instead.
var renamed = []struct{ document, libpmix, in string }{
	{"PMIX_ERR_DEBUGGER_RELEASE", "PMIX_DEBUGGER_RELEASE", "the release of the ranks"},
	{"PMIX_DEBUG_WAITING_FOR_NOTIFY", "PMIX_READY_FOR_DEBUG", "the ranks wait"},
	{"PMIX_DEBUG_JOB", "PMIX_DEBUG_TARGET", "the job of the daemons' ranks"},
	{"PMIX_ERR_JOB_TERMINATED", "PMIX_EVENT_JOB_END", "the end of a job"},
	{"PMIX_QUERY_ALL_NAMESPACES", "PMIX_QUERY_NAMESPACES", "the jobs of a server"},
	{"PMIX_LAUNCHER_COMPLETE", "PMIX_EVENT_JOB_END", "the end of a starter; no name of its own: it is that of the starter's namespace"},
	{"PMIX_LAUNCHER_DIRECTIVE", "PMIX_LAUNCH_DIRECTIVES", "directives for a spawned starter"},
	{"PMIX_EVENT_JOB_LEVEL", "PMIX_EVENT_PROC_TERMINATED", "no name for all: each is asked for"},
	{"PMIX_EVENT_ENVIRO_LEVEL", "PMIX_EVENT_NODE_DOWN", "no name for all: each is asked for"},
	{"PMIx_tool_connect_to_server", "PMIx_tool_set_server", "another server, later than PMIx_tool_init"},
}

// TestDocumentedNames checks the table of names in docs/launching.md, and that the names of libpmix
// are those that sdm-pmix compares with the headers.
func TestDocumentedNames(t *testing.T) {
	var checked string
	for _, file := range []string{"names.go", "bridge.c", "calls.go"} {
		text, err := os.ReadFile("../../cmd/sdm-pmix/" + file)
		if err != nil {
			t.Fatal(err)
		}
		checked += string(text)
	}
	table := "| document | libpmix | what it is about |\n|---|---|---|\n"
	for _, r := range renamed {
		used := strings.Contains(checked, `"`+r.libpmix+`"`) || strings.Contains(checked, r.libpmix+"(")
		if strings.Contains(checked, `"`+r.document+`"`) {
			t.Errorf("sdm-pmix uses %s, which is an old name", r.document)
		}
		note := r.in
		if !used {
			note += " (not used)"
		}
		table += fmt.Sprintf("| %s | %s | %s |\n", r.document, r.libpmix, note)
	}
	checkTable(t, table)
}

// servers are those with which sdm was run (docs/tested.md), and their libpmix.
var servers = []struct {
	name    string
	version Version
}{
	{"PRRTE 3.0.8 (libpmix 5.0.7)", Version{5, 0, 7}},
	{"PRRTE 5.0.0rc1 (libpmix 7.0.0rc1)", Version{7, 0, 0}},
}

// does are the rows about what a server does: a cell for what sdm makes of its abilities.
var does = []struct {
	what string
	cell func(Abilities) string
}{
	{"`--pmix-stop init`", func(Abilities) string { return "works" }},
	{"`--pmix-stop exec`", func(a Abilities) string {
		return either(a.StopOnExec, "works, also for programs without MPI", "refused: spawns hang")
	}},
	{"`--env`", func(Abilities) string { return "works" }},
	{"`--env-add`, `-unset`, `-prepend`, `-append`", func(a Abilities) string {
		return either(a.Environment, "works", "works, by a shell before the program: the server does not look at its own variables")
	}},
	{"`--alloc-nodes`, `--alloc-time`", func(a Abilities) string { return either(a.Allocation, "works", "refused: ignored") }},
	{"servers in the spawn of the ranks", func(Abilities) string { return "never tried: a second spawn" }},
	{"`--pmix-log`", func(a Abilities) string { return either(a.Log, "works", "refused: fails") }},
	{"`sdm run -- mpirun`, `sdm attach pmix:`", func(Abilities) string { return "works" }},
	{"unknown word of a policy, unknown host", func(Abilities) string { return "refused by sdm: it may end the server" }},
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// TestDocumentedAbilities checks the table of what sdm does on which server. docs/tested.md, which
// is made from the results of tests, has what was run.
func TestDocumentedAbilities(t *testing.T) {
	table := "| |"
	for _, s := range servers {
		table += " " + s.name + " |"
	}
	table += "\n|---|---|---|\n"
	for _, row := range does {
		table += "| " + row.what + " |"
		for _, s := range servers {
			table += " " + row.cell(AbilitiesOf(s.version)) + " |"
		}
		table += "\n"
	}
	checkTable(t, table)
}

// checkTable compares a table of docs/launching.md, which begins with the same line, with this one.
func checkTable(t *testing.T, want string) {
	t.Helper()
	const page = "../../docs/launching.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	heading, _, _ := strings.Cut(want, "\n")
	before, rest, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/launching.md has no table %s", heading)
	}
	got := heading + "\n"
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		got += line
	}
	switch {
	case got == want:
	case *rewrite:
		after := strings.TrimPrefix("\n"+string(text)[len(before)+1:], "\n"+got)
		if err := os.WriteFile(page, []byte(before+"\n"+want+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/launching.md: go test ./launch/pmix -run Documented -rewrite\n%s", want)
	}
}
