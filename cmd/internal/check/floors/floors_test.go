// Package floors checks the rules for imports: packages import only packages of their own or lower
// floors.
package floors

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// floor is the height of each top folder. A package imports only packages of lower floors or of its
// own folder (see docs/architecture.md).
var floor = map[string]int{
	"protocol": 1,
	"tree":     2, "backend": 2, "launch": 2,
	"master": 3, "server": 3,
	"cmd": 4,
}

// doors maps third-party modules to the packages that may import them, except in tests. Other
// modules must not be imported.
var doors = map[string][]string{
	"github.com/bits-and-blooms/bitset":  {"sdm/protocol/rank"},
	"github.com/cespare/xxhash/v2":       {"sdm/protocol/digest"},
	"github.com/spf13/pflag":             {"sdm/cmd/internal/original", "sdm/cmd/sdm", "sdm/cmd/sdm-server", "sdm/cmd/sdm-master", "sdm/cmd/internal/startup", "sdm/cmd/internal/gdbflags", "sdm/cmd/internal/completion", "sdm/cmd/internal/manpage"},
	"github.com/chzyer/readline":         {"sdm/master/frontend/console"},
	"github.com/google/go-dap":           {"sdm/master/frontend/dap"},
	"github.com/ianlancetaylor/demangle": {"sdm/backend/probe/internal/symbol"},
	"github.com/ulikunitz/xz":            {"sdm/backend/probe/internal/symbol"},
	"golang.org/x/arch":                  {"sdm/backend/probe/internal/amd64", "sdm/backend/probe/internal/argument", "sdm/backend/probe/internal/dataflow", "sdm/backend/probe/internal/derived", "sdm/backend/probe/internal/emulator"},
	"golang.org/x/term":                  {"sdm/master/frontend/console", "sdm/cmd"},
	"golang.org/x/sys":                   {"sdm/protocol/userfile", "sdm/launch/local", "sdm/launch/mpir", "sdm/backend/gdb", "sdm/backend/probe/internal/hold", "sdm/backend/probe/internal/proc", "sdm/master/frontend/rpc", "sdm/server", "sdm/cmd"},
	"github.com/cockroachdb/datadriven":  {"sdm/backend/backendtest"}, // imported by tests only

	"github.com/modelcontextprotocol/go-sdk": {"sdm/master/frontend/mcp"},
}

// testDoors maps modules to the packages whose tests may import them.
var testDoors = map[string][]string{
	"github.com/cyrus-and/gdb":          {"sdm/backend/mi"}, // compares results
	"github.com/google/go-cmp":          {"sdm"},
	"github.com/google/jsonschema-go":   {"sdm/master/frontend/dap"},
	"go.uber.org/goleak":                {"sdm"},
	"pgregory.net/rapid":                {"sdm"},
	"github.com/cockroachdb/datadriven": {"sdm"},
	"github.com/rogpeppe/go-internal":   {"sdm/cmd"},
	"github.com/ulikunitz/xz":           {"sdm/backend/probe"}, // makes what it reads
}

// pure are the packages without I/O, clock, goroutines and locks.
var pure = []string{"sdm/tree", "sdm/tree/topology", "sdm/tree/aggregate", "sdm/tree/sendqueue", "sdm/protocol", "sdm/protocol/rank", "sdm/protocol/digest", "sdm/protocol/column", "sdm/protocol/stack", "sdm/protocol/decode", "sdm/protocol/canonical", "sdm/protocol/ptp", "sdm/backend/mi", "sdm/backend/probe/internal/cfi", "sdm/backend/probe/internal/unwind", "sdm/backend/probe/internal/image", "sdm/backend/probe/internal/amd64", "sdm/backend/probe/internal/argument", "sdm/backend/probe/internal/dataflow", "sdm/backend/probe/internal/derived", "sdm/backend/probe/internal/emulator", "sdm/backend/probe/internal/mpi", "sdm/backend/probe/internal/snapshot", "sdm/backend/probe/internal/symbol", "sdm/backend/probe/internal/python", "sdm/backend/probe/internal/splice", "sdm/backend/gdb/breakpoint", "sdm/backend/gdb/debugger", "sdm/backend/gdb/gdbtext", "sdm/backend/gdb/request", "sdm/backend/gdb/values", "sdm/master/sampling"}

// impure are the packages that pure packages must not import. For package time see
// TestPureUsesNoClock.
var impure = []string{"net", "os", "sync", "context", "math/rand", "math/rand/v2", "crypto/rand", "os/exec", "syscall"}

type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	GoFiles                            []string
	Dir                                string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,GoFiles,Dir", "sdm/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages found: the test does not see the module", len(all))
	}
	return all
}

func top(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func TestArrowsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, "sdm/") {
				continue
			}
			from, to := top(p.ImportPath), top(imp)
			if from != to && floor[to] >= floor[from] {
				t.Errorf("%s imports %s: floor %d may not see floor %d", p.ImportPath, imp, floor[from], floor[to])
			}
			if why := forbiddenInside(p.ImportPath, imp); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imp, why)
			}
		}
	}
}

// forbiddenInside returns why an import within one top folder, or by a front end, is wrong; "": it
// is allowed.
func forbiddenInside(from, to string) string {
	sibling := func(parent string) bool {
		f, okF := strings.CutPrefix(from, parent+"/")
		g, okG := strings.CutPrefix(to, parent+"/")
		return okF && okG && strings.Split(f, "/")[0] != strings.Split(g, "/")[0]
	}
	switch {
	case sibling("sdm/launch"):
		return "launchers do not know one another"
	case sibling("sdm/backend") && !(strings.HasPrefix(from, "sdm/backend/gdb") && to == "sdm/backend/mi"):
		return "back ends do not know one another"
	case sibling("sdm/master/frontend"):
		return "front ends do not know one another"
	case strings.HasPrefix(from, "sdm/master/frontend/") && to == "sdm/master":
		return "front ends know the session, not the master"
	case top(to) == "cmd" && !strings.HasPrefix(to, "sdm/cmd/internal/"):
		return "nothing imports a program"
	case strings.HasPrefix(from, "sdm/protocol/rank") && to == "sdm/protocol":
		return "rank sets stand below the words"
	}
	return ""
}

func TestThirdPartyDoors(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			if !isThirdParty(imp) {
				continue
			}
			if !allowed(doors, imp, p.ImportPath) {
				t.Errorf("%s imports %s: not its door", p.ImportPath, imp)
			}
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			if isThirdParty(imp) && !allowed(doors, imp, p.ImportPath) && !allowed(testDoors, imp, p.ImportPath) {
				t.Errorf("tests of %s import %s: not their door", p.ImportPath, imp)
			}
		}
	}
}

func isThirdParty(path string) bool {
	return strings.Contains(strings.Split(path, "/")[0], ".")
}

func allowed(doors map[string][]string, imp, from string) bool {
	for module, users := range doors {
		if imp != module && !strings.HasPrefix(imp, module+"/") {
			continue
		}
		for _, u := range users {
			if from == u || strings.HasPrefix(from, u+"/") {
				return true
			}
		}
	}
	return false
}

func TestPurePackagesStayPure(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		if !slices.Contains(pure, p.ImportPath) {
			continue
		}
		seen++
		for _, imp := range p.Imports {
			if slices.Contains(impure, imp) || strings.HasPrefix(imp, "net/") {
				t.Errorf("%s imports %s: it must stay pure", p.ImportPath, imp)
			}
		}
	}
	if seen != len(pure) {
		t.Errorf("%d of %d pure packages found", seen, len(pure))
	}
}
