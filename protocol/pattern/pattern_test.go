package pattern

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPatternsAreValid compiles the texts of all patterns, as they are in the source files.
func TestPatternsAreValid(t *testing.T) {
	seen := 0
	for _, dir := range []string{"../gdbtext", "../values", "../debugger"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for n := range ast.Preorder(file) {
				call, is := n.(*ast.CallExpr)
				if !is || !makesPattern(call.Fun) {
					continue
				}
				seen++
				text, err := textOf(call.Args[0])
				if err == nil {
					_, err = regexp.Compile(text)
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d patterns were found", seen)
	}
}

func makesPattern(function ast.Expr) bool {
	f, is := function.(*ast.SelectorExpr)
	if !is || f.Sel.Name != "New" {
		return false
	}
	of, is := f.X.(*ast.Ident)
	return is && of.Name == "pattern"
}

// textOf returns the value of string literals that are added.
func textOf(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		first, err := textOf(e.X)
		if err != nil {
			return "", err
		}
		second, err := textOf(e.Y)
		return first + second, err
	}
	return "", strconv.ErrSyntax
}
