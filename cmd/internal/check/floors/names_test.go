// Pages and comments name files, packages, functions, flags and Make targets that exist.

package floors

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// tops are the folders whose names begin a path of ours.
var tops = []string{"master", "server", "tree", "backend", "protocol", "launch", "cmd", "testdata", "docs", ".ci"}

var (
	fence      = regexp.MustCompile("(?ms)^```.*?^```$")
	codeSpan   = regexp.MustCompile("`(?:[^`\n]|\n[^`\n])+`")
	goFile     = regexp.MustCompile(`(?:[\w.-]+/)*\w+\.go\b`)
	ourPath    = regexp.MustCompile(`(?:^|[\s("'` + "`" + `])(\.?[a-z]+(?:/[\w.-]+)+)`)
	ourName    = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)(?:\.([A-Za-z]\w*))?`)
	typeName   = regexp.MustCompile(`^\*?([A-Z]\w*)\.([A-Za-z]\w*)(?:\(\))?$`)
	makeTarget = regexp.MustCompile(`\bmake ([a-z][a-z0-9]*)`)
	ourFlag    = regexp.MustCompile(`(?:^|[\s=(\[/])--([a-z][a-z0-9-]+)`)
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// repository is what the repository has.
type repository struct {
	root     string
	paths    map[string]bool            // files and folders, relative to root
	names    map[string]map[string]bool // of a package by its name: what it declares, members of its types, too
	members  map[string]map[string]bool // of a type by its name, in any package: methods and fields
	comments map[string][]string        // of Go files
	flags    map[string]bool
	targets  map[string]bool
}

func TestNamesExist(t *testing.T) {
	r := readRepository(t)
	if !r.paths["README.md"] || !r.paths["cmd/internal/check/floors/names_test.go"] {
		t.Fatal("pages and sources were not found below ", r.root)
	}
	for file := range r.paths {
		if strings.HasSuffix(file, ".md") && file != "docs/tested.md" {
			r.checkPage(t, file)
		}
	}
	for file, texts := range r.comments {
		for _, text := range texts {
			r.checkText(t, file, text)
		}
	}
}

func readRepository(t *testing.T) *repository {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{root: strings.TrimSpace(string(out)), paths: map[string]bool{}, names: map[string]map[string]bool{},
		members: map[string]map[string]bool{}, comments: map[string][]string{}, flags: map[string]bool{}, targets: map[string]bool{}}
	err = filepath.WalkDir(r.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.root, p)
		if d.IsDir() && (rel == ".git" || rel == "bin") { // in a worktree .git is a file
			return filepath.SkipDir
		}
		r.paths[rel] = true
		if strings.HasSuffix(rel, ".go") {
			r.readGo(t, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(r.root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z0-9]*):`).FindAllSubmatch(makefile, -1) {
		r.targets[string(m[1])] = true
	}
	return r
}

func (r *repository) readGo(t *testing.T, rel string) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(r.root, rel), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Comments {
		r.comments[rel] = append(r.comments[rel], c.Text())
	}
	pkg := r.names[strings.TrimSuffix(f.Name.Name, "_test")]
	if pkg == nil {
		pkg = map[string]bool{}
		r.names[strings.TrimSuffix(f.Name.Name, "_test")] = pkg
	}
	member := func(of, name string) {
		if r.members[of] == nil {
			r.members[of] = map[string]bool{}
		}
		pkg[name], r.members[of][name] = true, true
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil {
				pkg[n.Name.Name] = true
			} else {
				of := n.Recv.List[0].Type
				if s, ok := of.(*ast.StarExpr); ok {
					of = s.X
				}
				if g, ok := of.(*ast.IndexExpr); ok {
					of = g.X
				}
				if id, ok := of.(*ast.Ident); ok {
					member(id.Name, n.Name.Name)
				}
			}
		case *ast.TypeSpec:
			pkg[n.Name.Name] = true
			var fields *ast.FieldList
			switch of := n.Type.(type) {
			case *ast.StructType:
				fields = of.Fields
			case *ast.InterfaceType:
				fields = of.Methods
			}
			if fields != nil {
				for _, field := range fields.List {
					for _, name := range field.Names {
						member(n.Name.Name, name.Name)
					}
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				pkg[name.Name] = true
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				for _, word := range regexp.MustCompile(`[a-z][a-z0-9-]+`).FindAllString(n.Value, -1) {
					r.flags[word] = true
				}
			}
		}
		return true
	})
}

// checkPage checks the links of a page, and what its code spans and its text name.
func (r *repository) checkPage(t *testing.T, file string) {
	data, err := os.ReadFile(filepath.Join(r.root, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range link.FindAllSubmatch(data, -1) {
		target, anchor, _ := strings.Cut(string(m[1]), "#")
		if strings.Contains(target, "://") {
			continue
		}
		page := path.Join(path.Dir(file), target)
		if target == "" {
			page = file
		}
		if !r.paths[page] {
			t.Errorf("%s: a link to %s, which does not exist", file, m[1])
		} else if anchor != "" && !r.hasAnchor(t, page, anchor) {
			t.Errorf("%s: a link to %s: no such heading", file, m[1])
		}
	}
	for _, span := range append(fence.FindAll(data, -1), codeSpan.FindAll(fence.ReplaceAll(data, nil), -1)...) {
		text := string(bytes.Trim(span, "`"))
		r.checkText(t, file, text)
		if m := typeName.FindStringSubmatch(text); m != nil && r.members[m[1]] != nil && !r.members[m[1]][m[2]] {
			t.Errorf("%s: %s: the type %s has no %s", file, text, m[1], m[2])
		}
		if strings.HasPrefix(text, "make ") {
			if m := makeTarget.FindStringSubmatch(text); m != nil && !r.targets[m[1]] {
				t.Errorf("%s: %s: no such target", file, text)
			}
		}
		if strings.HasPrefix(text, "sdm") || strings.HasPrefix(text, "--") {
			for _, m := range ourFlag.FindAllStringSubmatch(text, -1) {
				if !r.flags[m[1]] {
					t.Errorf("%s: %s: no program has --%s", file, text, m[1])
				}
			}
		}
	}
}

func (r *repository) hasAnchor(t *testing.T, page, anchor string) bool {
	data, err := os.ReadFile(filepath.Join(r.root, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range heading.FindAllSubmatch(data, -1) {
		id := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(string(m[1])), "")
		if strings.ReplaceAll(id, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// checkText checks files, folders and names in a text.
func (r *repository) checkText(t *testing.T, file, text string) {
	for _, name := range goFile.FindAllString(text, -1) {
		if !r.has(name, strings.HasSuffix) {
			t.Errorf("%s: %s does not exist", file, name)
		}
	}
	for _, m := range ourPath.FindAllStringSubmatch(text, -1) {
		name := strings.TrimRight(m[1], ".")
		if i := strings.IndexFunc(name, unicode.IsUpper); i > 0 { // gdb-VERSION
			name = name[:i]
		}
		top, _, _ := strings.Cut(name, "/")
		if slices.Contains(tops, top) && !r.has(name, strings.HasPrefix) && !r.has(path.Join(path.Dir(file), name), strings.HasPrefix) {
			t.Errorf("%s: %s does not exist", file, name)
		}
	}
	for _, m := range ourName.FindAllStringSubmatch(text, -1) {
		pkg := r.names[m[1]]
		if placeholder := len(m[2]) > 2 && strings.ToUpper(m[2]) == m[2]; pkg == nil || pkg[m[2]] || placeholder {
			continue
		}
		t.Errorf("%s: %s: package %s has no %s", file, m[0], m[1], m[2])
	}
}

// has reports whether a path of the repository is name, or begins or ends with it.
func (r *repository) has(name string, part func(path, name string) bool) bool {
	if r.paths[name] {
		return true
	}
	for p := range r.paths {
		if part("/"+p, "/"+name) {
			return true
		}
	}
	return false
}
