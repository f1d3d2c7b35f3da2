// The order of the files within a package: calls should run one way.

package floors

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms are the packages of many files, how many percent of the arrows between their files may run upward, and how
// many pairs of files may call one another: what was reached, to be lowered and not raised. An arrow is a pair of
// files: the first calls a function or method of the second. The files are put into an order in which few run
// upward.
var rooms = []struct {
	path            string
	upward, mutuals int
}{
	{"sdm/backend/gdb/breakpoint", 0, 0},
	{"sdm/backend/gdb/debugger", 1, 0},
	{"sdm/backend/probe", 0, 0},
	{"sdm/backend/probe/internal/sampler", 2, 0},
	{"sdm/backend/sim", 5, 2},
	{"sdm/cmd/sdm", 2, 0},
	{"sdm/master", 2, 0},
	{"sdm/master/frontend/console", 9, 10},
	{"sdm/master/frontend/ptp", 2, 0},
}

func TestArrowsWithinRooms(t *testing.T) {
	load := loader(t)
	for _, r := range rooms {
		arrows := load(r.path)
		order := ordered(arrows)
		n, upward, mutual := 0, 0, 0
		for from, tos := range arrows {
			for to := range tos {
				n++
				if order[from] > order[to] {
					upward++
				}
				if arrows[to][from] && from < to {
					mutual++
				}
				if order[from] > order[to] && testing.Verbose() {
					t.Logf("upward: %s -> %s", from, to)
				}
			}
		}
		t.Logf("%s: %d files, %d arrows, %d upward (%d %%), %d mutual pairs", r.path, len(order), n, upward, upward*100/max(n, 1), mutual)
		if upward*100/max(n, 1) > r.upward {
			t.Errorf("%s: %d of %d arrows between files run upward; the limit is %d %%", r.path, upward, n, r.upward)
		}
		if mutual > r.mutuals {
			t.Errorf("%s: %d pairs of files call one another; the limit is %d", r.path, mutual, r.mutuals)
		}
	}
}

// loader returns a function that reads the arrows between the files of a package.
func loader(t *testing.T) func(path string) map[string]map[string]bool {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles"}
	for _, r := range rooms {
		args = append(args, r.path)
	}
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	all := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
	return func(path string) map[string]map[string]bool {
		var files []*ast.File
		for _, name := range all[path].GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(all[path].Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := types.Info{Uses: map[*ast.Ident]types.Object{}}
		if _, err := (&types.Config{Importer: imports}).Check(path, fset, files, &info); err != nil {
			t.Fatal(err)
		}
		base := func(p token.Pos) string { return filepath.Base(fset.Position(p).Filename) }
		arrows := map[string]map[string]bool{}
		for _, f := range files {
			arrows[base(f.Pos())] = map[string]bool{}
		}
		for id, o := range info.Uses {
			f, ok := o.(*types.Func)
			if !ok || f.Pkg() == nil || f.Pkg().Path() != path || f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()) {
				continue
			}
			if from, to := base(id.Pos()), base(f.Pos()); from != to {
				arrows[from][to] = true
			}
		}
		return arrows
	}
}

// ordered returns a place for each file, callers before those that they call as far as possible: repeatedly, a file
// is moved to the place where it has the fewest arrows upward.
func ordered(arrows map[string]map[string]bool) map[string]int {
	var names []string
	for name := range arrows {
		names = append(names, name)
	}
	// Begin with those that call much and are called little.
	weight := map[string]int{}
	for from, tos := range arrows {
		for to := range tos {
			weight[from]--
			weight[to]++
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(weight[a]-weight[b], strings.Compare(a, b)) })
	for moved := true; moved; {
		moved = false
		for _, name := range slices.Clone(names) {
			if moveToBest(names, name, arrows) {
				moved = true
			}
		}
	}
	order := map[string]int{}
	for i, name := range names {
		order[name] = i
	}
	return order
}

// moveToBest moves a file within the order to where it has the fewest arrows upward, and tells whether that is
// better than before.
func moveToBest(names []string, name string, arrows map[string]map[string]bool) bool {
	at := slices.Index(names, name)
	// change is how many more arrows run upward if it is moved before i; it grows from 0 at its own place.
	best, fewest := at, 0
	change := 0
	for i := at - 1; i >= 0; i-- {
		if arrows[names[i]][name] {
			change++
		}
		if arrows[name][names[i]] {
			change--
		}
		if change < fewest {
			best, fewest = i, change
		}
	}
	change = 0
	for i := at + 1; i < len(names); i++ {
		if arrows[name][names[i]] {
			change++
		}
		if arrows[names[i]][name] {
			change--
		}
		if change < fewest {
			best, fewest = i, change
		}
	}
	if fewest == 0 {
		return false
	}
	copyOf := slices.Delete(slices.Clone(names), at, at+1)
	copy(names, slices.Insert(copyOf, best, name))
	return true
}
