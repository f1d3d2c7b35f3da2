package pattern

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPatternsAreValid compiles the texts of all patterns, as they are in the source files.
func TestPatternsAreValid(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for n := range ast.Preorder(file) {
			call, is := n.(*ast.CallExpr)
			if !is || !makesPattern(call.Fun) {
				continue
			}
			seen++
			text, err := textOf(file, call.Args[0])
			if err == nil {
				_, err = regexp.Compile(text)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
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

// textOf returns the value of string literals that are added. Names are variables of the file.
func textOf(file *ast.File, e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		first, err := textOf(file, e.X)
		if err != nil {
			return "", err
		}
		second, err := textOf(file, e.Y)
		return first + second, err
	case *ast.Ident:
		for n := range ast.Preorder(file) {
			if spec, is := n.(*ast.ValueSpec); is && spec.Names[0].Name == e.Name && len(spec.Values) == 1 {
				return textOf(file, spec.Values[0])
			}
		}
	}
	return "", strconv.ErrSyntax
}
