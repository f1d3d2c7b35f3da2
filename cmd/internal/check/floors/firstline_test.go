// Files begin with a comment.

package floors

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesBeginWithAComment(t *testing.T) {
	for name, text := range sources(t) {
		if first, _, _ := strings.Cut(text, "\n"); !strings.HasPrefix(first, "// ") {
			t.Errorf("%s begins with %q, and not with a comment that says what is in it", name, first)
		}
	}
}

// sources returns the texts of all Go files that are no tests, by their paths.
func sources(t *testing.T) map[string]string {
	t.Helper()
	const root = "../../../.."
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		texts[strings.TrimPrefix(p, root+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 100 {
		t.Fatalf("only %d sources found: the test does not see the module", len(texts))
	}
	return texts
}
