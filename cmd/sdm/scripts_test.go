package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"sdm/protocol/rank"
)

// Commands of scripts that testscript does not have.

// update lets failing cmp commands rewrite their expected output.
var update = flag.Bool("update", false, "rewrite the expected output in scripts, and the table in docs/launching.md")

// exits runs a command that must end with a given status: exits 3 sdm run ./nothing.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	status := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d, not %s", status, args[0])
	}
}

// address matches an address, which depends on the compiler, the kernel or the length of the
// environment.
var address = regexp.MustCompile(`0x[0-9a-f]{8,16}\b`)

// plain copies a text to a file without what depends on the machine, and with the wording of gdb 13
// where newer ones differ: plain stdout FILE.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: plain FROM FILE")
	}
	text := address.ReplaceAllString(ts.ReadFile(args[0]), "ADDRESS")
	text = offset.ReplaceAllString(text, "<$1+OFFSET>")
	text = noCode.ReplaceAllString(text, "No line $1 in file $2.")
	text = nearEnd.ReplaceAllString(text, "near `'.")
	text = strings.ReplaceAll(text, "with breakpoint pending on -- ", "")
	text = inSyscall.ReplaceAllString(text, "(call to syscall $1), $1 () from /lib/")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

var (
	offset = regexp.MustCompile(`<([a-z_]+)\+[0-9]+>`)
	noCode = regexp.MustCompile(`No compiled code for line ([0-9]+) in file (".*")\.`)
	// From glibc 2.41 on, cancellable system calls are in a function without a name.
	inSyscall = regexp.MustCompile(`\(call to syscall ([a-z]+)\), [a-z?]+ \(\) from (?:/usr)?/lib/`)
	nearEnd   = regexp.MustCompile("near the end of `.*'\\.")
)

// written extracts the output of ranks from ndjson: written FROM stdout FILE puts the bytes of rank
// 3 into FILE.3. FROM is a file, or stdout for the output of the last command.
func written(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: written FROM stdout|stderr FILE")
	}
	all := map[rank.ID]*bytes.Buffer{}
	stream := `,"stream":"` + args[1] + `",`
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if !strings.HasPrefix(line, `{"event":"output",`) || !strings.Contains(line, stream) {
			continue
		}
		ranks, text, err := readOutput(line)
		ts.Check(err)
		for r := range ranks.All() {
			if all[r] == nil {
				all[r] = &bytes.Buffer{}
			}
			all[r].Write(text)
		}
	}
	for r, b := range all {
		ts.Check(os.WriteFile(ts.MkAbs(args[2]+"."+strconv.Itoa(int(r))), b.Bytes(), 0o600))
	}
}

// readOutput reads an event of output. A flood has hundreds of thousands of them, so simple ones
// are read without the JSON decoder.
func readOutput(line string) (rank.Set, []byte, error) {
	head, text, ok := strings.Cut(line, `,"text":"`)
	if plain, whole := strings.CutSuffix(text, "\\n\"}\n"); ok && whole && !strings.Contains(plain, `\`) {
		set, _, _ := strings.Cut(strings.TrimPrefix(head, `{"event":"output","ranks":"`), `"`)
		if r, err := strconv.Atoi(set); err == nil {
			return rank.Of(rank.ID(r)), []byte(plain + "\n"), nil
		}
	}
	var e struct {
		Ranks rank.Set `json:"ranks"`
		Text  *string  `json:"text"`
		Data  []byte   `json:"data"`
	}
	err := json.Unmarshal([]byte(line), &e)
	if e.Text != nil {
		return e.Ranks, []byte(*e.Text), err
	}
	return e.Ranks, e.Data, err
}
