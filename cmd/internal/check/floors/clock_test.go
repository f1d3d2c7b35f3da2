package floors

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// timeless are the names of package time that pure packages may use.
var timeless = []string{"Duration", "ParseDuration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"}

func TestPureUsesNoClock(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(pure, p.ImportPath) {
			continue
		}
		for _, file := range p.GoFiles {
			path := filepath.Join(p.Dir, file)
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && x.Obj == nil && !slices.Contains(timeless, sel.Sel.Name) {
					t.Errorf("%s uses time.%s: time is an argument here", path, sel.Sel.Name)
				}
				return true
			})
		}
	}
}
