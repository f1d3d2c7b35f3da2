// Plays a session to plain gdb and splits its output by lines of the session.

package oracle

// Sessions with plain gdb.

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Block is the output for one line of a session.
type Block struct {
	Text string // without the newline at the end
	// At is the selected frame after a line that resumes; set for gdb only.
	At string
}

const (
	// limit is the time limit of a session with sdm, in addition to the time that the gdbs have
	// taken.
	limit = 60 * time.Second
	// limitOfGDB is the time limit of a session with gdb. The programs are short, but a loop
	// over an uninitialized value is long.
	limitOfGDB = 20 * time.Second
)

// environment is the environment of the ranks. It is the same for both debuggers, so that stacks
// start at the same address.
var environment = []string{"HOME=/root", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=dumb"}

// gdbFlags suppress all output that is not an answer.
var gdbFlags = []string{"-nx", "-q", "-iex", "set prompt", "-iex", "set confirm off", "-iex", "set pagination off", "-iex", "set width 0", "-iex", "set height 0", "-iex", "set debuginfod enabled off"}

// AskGDB returns the output of a gdb that plays a session for one rank. ok is false if the session
// did not end in time.
func AskGDB(ctx context.Context, rules Rules, s Session, rank int) (blocks []Block, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limitOfGDB)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gdb", append(gdbFlags, s.Program.Path)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Env = environment
	cmd.Stdin = strings.NewReader(gdbScript(rules, s, rank))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, false, nil
	}
	blocks, cutErr := cutGDB(out.String(), len(s.Lines))
	for i, l := range s.Lines {
		if l.Body != nil && blocks != nil { // gdb's prompts for the lines of the block
			blocks[i].Text = strings.TrimLeft(blocks[i].Text, ">")
		}
	}
	if cutErr != nil {
		return nil, true, fmt.Errorf("gdb (%v): %w\n%s", err, cutErr, out.String())
	}
	return blocks, true, nil
}

// mark returns the mark before the answer to line n (what is ""), or before the frame that it has
// led to ("at").
func mark(n int, what string) string { return "@@" + strconv.Itoa(n) + what + "@@" }

// gdbScript returns gdb's input: it starts the program, and then follow the lines of the session.
func gdbScript(rules Rules, s Session, rank int) string {
	wrapper := "env -i " + strings.Join(environment, " ") + fmt.Sprintf(" SDM_RANK=%d SDM_SIZE=8", rank)
	lines := append(rules.setup(), "set exec-wrapper "+wrapper, "start < /dev/null > /dev/null 2>&1")
	for i, l := range s.Lines {
		lines = append(lines, `echo \n`+mark(i, "")+`\n`)
		lines = append(lines, l.ToGDB()...)
		if Words[l.Word].Resumes {
			lines = append(lines, `echo \n`+mark(i, "at")+`\n`, "frame")
		}
	}
	return strings.Join(append(lines, `echo \n`+mark(len(s.Lines), "")+`\n`, "kill", "quit"), "\n") + "\n"
}

var marks = regexp.MustCompile(`(?m)^@@(\d+)(at)?@@\n`)

// cutGDB splits a transcript at the marks.
func cutGDB(text string, lines int) ([]Block, error) {
	blocks := make([]Block, lines)
	found := marks.FindAllStringSubmatchIndex(text, -1)
	for i, m := range found {
		n, _ := strconv.Atoi(text[m[2]:m[3]])
		if n == lines {
			return blocks, nil
		}
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		body := strings.Trim(text[m[1]:end], "\n")
		if m[4] >= 0 {
			blocks[n].At = body
		} else {
			blocks[n].Text = body
		}
	}
	return nil, fmt.Errorf("the transcript ends early")
}
