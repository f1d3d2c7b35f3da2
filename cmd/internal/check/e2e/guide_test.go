// The transcripts of docs/guide.md.

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuide types the commands of docs/guide.md, a block in one shell, and compares what they answer with the page.
func TestGuide(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t)
	dir := t.TempDir()
	for link, path := range map[string]string{"mpicc": openMPI.compiler, "mpirun": openMPI.command} {
		found, err := exec.LookPath(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(found, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	blocks := regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllSubmatch(page, -1)
	if len(blocks) < 3 {
		t.Fatalf("docs/guide.md has %d transcripts", len(blocks))
	}
	for _, block := range blocks {
		var script, want strings.Builder
		for line := range strings.Lines(string(block[1])) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				// A person waits for two seconds; a busy machine needs longer until the ranks have said who they are.
				script.WriteString(strings.Replace(command, "sleep 2", "until [ $(grep -c pid ranks) = 5 ]; do sleep 0.1; done; sleep 1", 1))
			} else {
				want.WriteString(line)
			}
		}
		sh := s.start("bash", "-c", `PATH=$1:$PATH; cp "$2"/*.[ch] "$1" && cd "$1" && eval "$3"`, "guide", dir, absolute(t, sources), script.String())
		sh.status(patience)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want.String()), `\.\.\.`+"\n", `(?:.*\n)*`)
		if got := sh.out.text(); !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
			t.Errorf("docs/guide.md: the commands\n%sanswer\n%swhere the page has\n%s%s", script.String(), got, want.String(), sh.said())
		}
	}
}
