package hangfile

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the table of fields in docs/hang-files.md anew")

// The table of fields in the manual is between these two lines.
const (
	tableHead = "| field | what it is | meaning |\n|---|---|---|\n"
	tableEnd  = "\n## Reading it with other programs"
)

// kinds are the types of fields in the manual; types of this package have rows of their own.
var kinds = map[string]string{
	"string": "text", "ReasonKind": "text", "time.Time": "time (RFC 3339)", "rank.Set": "rank set", "bool": "true or false", "int64": "number",
	"[]string": "texts", "[]session.Event": "[events](protocol.md)", "protocol.Args": "object (params of [protocol.md](protocol.md))",
}

// comments returns the comments of the fields of all structs in file.go, by type and name.
func comments(t *testing.T) map[string]map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "file.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			fields := map[string]string{}
			for _, field := range s.Fields.List {
				for _, name := range field.Names {
					fields[name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
				}
			}
			all[spec.Name.Name] = fields
		}
		return true
	})
	return all
}

// rowsOf returns the rows of a struct, whose fields have a prefix.
func rowsOf(t *testing.T, v reflect.Type, prefix string, said map[string]map[string]string) (rows string) {
	for field := range v.Fields() {
		if field.Anonymous {
			rows += "| `" + prefix + "state` and others | fields | as in the answer to the command `ranks`: `where`, `func`, `reason`, `signal`, `code`, `cause`, `host` |\n"
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		text := strings.TrimPrefix(said[v.Name()][field.Name], field.Name+" ")
		if text == "" {
			t.Errorf("%s.%s has no comment", v.Name(), field.Name)
		}
		for _, verb := range []string{"is ", "are ", "tells ", "names "} {
			text = strings.TrimPrefix(text, verb)
		}
		in, own := field.Type, "object"
		if in.Kind() == reflect.Slice {
			in, own = in.Elem(), "list"
		}
		kind := kinds[strings.TrimPrefix(field.Type.String(), "hangfile.")]
		nested := kind == "" && in.Kind() == reflect.Struct && said[in.Name()] != nil
		switch {
		case nested:
			kind = own
		case kind == "":
			t.Errorf("%s.%s: no word for the type %s", v.Name(), field.Name, field.Type)
		}
		rows += "| `" + prefix + name + "` | " + kind + " | " + strings.TrimSuffix(text, ".") + " |\n"
		if nested && own == "list" {
			rows += rowsOf(t, in, prefix+name+"[].", said)
		} else if nested {
			rows += rowsOf(t, in, prefix+name+".", said)
		}
	}
	return rows
}

// TestManual: the manual has a row for each field.
func TestManual(t *testing.T) {
	const path = "../../docs/hang-files.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(b), tableHead)
	table, after, ok := strings.Cut(rest, tableEnd)
	if !ok {
		t.Fatalf("%s has no table of fields", path)
	}
	want := rowsOf(t, reflect.TypeFor[File](), "", comments(t))
	switch {
	case *rewrite:
		if err := os.WriteFile(path, []byte(before+tableHead+want+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case table != want:
		t.Error("the table of fields differs from type File; go test ./master/hangfile -run Manual -rewrite writes it anew")
	}
}
