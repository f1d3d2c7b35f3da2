// Reading of hang files, which may come from anywhere.

package hangfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/userfile"
)

// Bounds of a file. They are far above what a job gives: a million ranks with equal stacks need a few kilobytes.
const (
	MaxSize    = 32 << 20 // bytes of JSON, after decompression
	MaxText    = 64 << 10 // bytes of a text, except in answers and output
	MaxList    = 1 << 16  // elements of each list
	MaxValues  = 1024     // commands in Values
	maxStates  = 1 << 14  // elements of States, each of which is compared with all others
	maxPairs   = 1 << 22  // pairs of a rank and a peer in wait graphs: a run in the file may stand for millions
	maxInCalls = 1 << 26  // ranks in calls, and members of communicators: each set of them may be a few bytes of the file
	maxWord    = 64       // bytes of a word, such as the name of a state
)

// ErrNotHangFile is the error of Read for what is no hang file.
var ErrNotHangFile = errors.New("not a hang file")

// Read reads a hang file, plain or compressed. Fields that are not known are ignored. The error wraps ErrNotHangFile,
// or tells what is wrong, or that a newer sdm is needed. Memory is bounded by a multiple of MaxSize.
func Read(r io.Reader) (*File, error) {
	b, err := content(r, MaxSize)
	if err != nil {
		return nil, err
	}
	var head struct{ Format, Version, Sdm string }
	if err := json.Unmarshal(b, &head); err != nil || head.Format != FormatName {
		return nil, ErrNotHangFile
	}
	if err := checkVersion(head.Version, head.Sdm); err != nil {
		return nil, err
	}
	var f File
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("hang file: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return &f, nil
}

// ReadFile reads the hang file at a path; errors begin with the path. It ends with ctx.
func ReadFile(ctx context.Context, path string) (*File, error) {
	file, err := userfile.Open(ctx, path)
	if errors.Is(err, syscall.EISDIR) {
		return nil, fmt.Errorf("%s: is a directory (give the path of a hang file)", path)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// content returns the JSON text, of at most so many bytes.
func content(r io.Reader, most int) ([]byte, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("hang file: %w", err)
		}
		in = bufio.NewReader(z)
	}
	if first, err := in.Peek(1); err == nil && first[0] != '{' { // a core file, say, is not read as a whole
		return nil, ErrNotHangFile
	}
	b, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("hang file: %w", err)
	case len(b) > most:
		return nil, fmt.Errorf("hang file: more than %d bytes", most)
	}
	return b, nil
}

// checkVersion refuses formats that are newer than this reader.
func checkVersion(version, sdm string) error {
	first, _, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(first)
	known, _, _ := strings.Cut(FormatVersion, ".")
	switch {
	case err != nil || major < 1:
		return fmt.Errorf("hang file: its version %q is no version", protocol.Clip(version))
	case first != known:
		return fmt.Errorf("a hang file of format %s, written by sdm %q; this sdm reads format %s (use a newer one)", first, protocol.Clip(sdm), known)
	}
	return nil
}

// check verifies the bounds, and that answers are answers and output is output.
func (f *File) check() error {
	c := checker{}
	c.list("command", len(f.Job.Command))
	c.list("verdict", len(f.Verdict))
	c.list("calls", len(f.Calls))
	c.list("versions", len(f.Versions))
	if len(f.States) > maxStates {
		c.fail("states: %d elements are more than %d", len(f.States), maxStates)
	}
	if pairsOf(f.Stacks) > maxPairs {
		c.fail("stacks: ranks wait for more than %d messages", maxPairs)
	}
	if inCallsOf(f.Stacks) > maxInCalls {
		c.fail("stacks: calls and communicators have more than %d ranks", maxInCalls)
	}
	c.answers("stacks", f.Stacks)
	c.answers("hosts", f.Hosts)
	if len(f.Values) > MaxValues {
		c.fail("values: %d commands are more than %d", len(f.Values), MaxValues)
	}
	for _, x := range f.Values {
		c.answers("values", x.Answers)
	}
	c.output(f.Output)
	f.texts(c.texts)
	return c.err
}

// texts calls do for all texts of the file but those in answers and the output itself, with the field that they are
// in and the most bytes that each may have.
func (f *File) texts(do func(what string, most int, texts ...*string)) {
	do("header", MaxText, &f.Sdm, &f.Reason.Text, &f.Job.Launcher, &f.Job.ID, &f.Job.Host, &f.Job.Cwd)
	do("reason", maxWord, (*string)(&f.Reason.Kind))
	for i := range f.Job.Command {
		do("command", MaxText, &f.Job.Command[i])
	}
	for i := range f.Verdict {
		do("verdict", maxWord, &f.Verdict[i].Kind)
		do("verdict", MaxText, &f.Verdict[i].Text)
	}
	for i := range f.Calls {
		do("calls", MaxText, &f.Calls[i].Text)
	}
	for i := range f.States {
		s := &f.States[i].Status
		do("states", maxWord, (*string)(&s.State))
		do("states", MaxText, &s.Where, &s.Func, &s.Reason, &s.Signal, &s.Cause, &s.Host)
	}
	for i := range f.Versions {
		do("versions", MaxText, &f.Versions[i].Of, &f.Versions[i].Text)
	}
	for i := range f.Values {
		do("values", MaxText, &f.Values[i].Line, &f.Values[i].Command)
	}
	for i := range f.Output.Events {
		do("output", MaxText, &f.Output.Events[i].From)
	}
}

// pairsOf counts the pairs in the wait graphs of answers.
func pairsOf(events []session.Event) (n int) {
	for _, e := range events {
		for _, edge := range slices.Concat(e.Group.Waits.Edges(), e.Group.Waits.Unexpected()) {
			for _, run := range edge.Pairs.Runs() {
				n += run.Count
			}
		}
	}
	return n
}

// inCallsOf counts the ranks in calls and the members of communicators in the wait graphs of answers.
func inCallsOf(events []session.Event) (n int) {
	members := map[string]int{} // by key, since all answers may have a communicator
	for _, e := range events {
		for _, c := range e.Group.Waits.Calls() {
			n += c.Ranks.Len()
		}
		for _, c := range e.Group.Waits.Comms() {
			members[c.Key] = max(members[c.Key], c.Members.Len()+c.Remote.Len())
		}
	}
	for _, some := range members {
		n += some
	}
	return n
}

// checker keeps the first error.
type checker struct{ err error }

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("hang file: "+format, args...)
	}
}

func (c *checker) texts(what string, most int, texts ...*string) {
	for _, s := range texts {
		switch {
		case len(*s) > most:
			c.fail("%s: a text of %d bytes is longer than %d", what, len(*s), most)
		case !utf8.ValidString(*s):
			c.fail("%s: a text is not UTF-8", what)
		}
	}
}

func (c *checker) list(what string, n int) {
	if n > MaxList {
		c.fail("%s: %d elements are more than %d", what, n, MaxList)
	}
}

// answers checks events that answer a command. Those of a newer version, whose kind is 0, are permitted.
func (c *checker) answers(what string, events []session.Event) {
	c.list(what, len(events))
	for _, e := range events {
		switch e.Group.Kind {
		case protocol.KindResult, protocol.KindFault, protocol.KindMissing, protocol.KindLost, protocol.KindNote, 0:
		default:
			c.fail("%s: an event %q is no answer", what, protocol.Clip(e.Name))
		}
		if e.Done != nil || e.ID != 0 {
			c.fail("%s: an answer has the number of a request, or is its end", what)
		}
		c.texts(what, maxWord, &e.Name, &e.Command)
	}
}

func (c *checker) output(o Output) {
	c.list("output", len(o.Events))
	for _, e := range o.Events {
		if k := e.Group.Kind; k != protocol.KindStdout && k != protocol.KindStderr {
			c.fail("output: an event %q is no output", protocol.Clip(e.Name))
		}
	}
	if o.DroppedStdout < 0 || o.DroppedStderr < 0 {
		c.fail("output: a number is negative")
	}
}
