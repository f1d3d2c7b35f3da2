// Functions for all tests of this package.

package mi

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tapes returns the recorded sessions, and the lines written by hand, by name.
func tapes(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/tapes/*.mi")
	if err != nil || len(files) < 5 {
		t.Fatalf("no tapes in testdata/tapes (%d files, error %v); record them with testdata/record.sh", len(files), err)
	}
	all := map[string][]byte{}
	for _, f := range append(files, "testdata/written.mi") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = b
	}
	return all
}

// lines splits a tape into lines, without the empty string after its last newline.
func lines(tape []byte) [][]byte {
	return bytes.Split(bytes.TrimSuffix(tape, []byte("\n")), []byte("\n"))
}

// str, tup and list make values with short names.
func str(s string) Value            { return Value{Str: s} }
func tup(fields ...Field) Value     { return Value{Kind: TupleValue, Fields: fields} }
func list(fields ...Field) Value    { return Value{Kind: ListValue, Fields: fields} }
func is(name string, v Value) Field { return Field{Name: name, Value: v} }
