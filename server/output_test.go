package server

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestOutputPassesAsItIs(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 1, `printf 'a\nb\377\000c\n\n'; printf 'err' >&2; printf 'end'`, rank.Set{})
	b.up.untilLine(t, "exited [0]")
	if got := b.up.output("out 0"); got != "a\nb\xff\x00c\n\nend" {
		t.Errorf("stdout %q", got)
	}
	if got := b.up.output("err 0"); got != "err" {
		t.Errorf("stderr %q", got)
	}
	for _, want := range []string{`out 0 "a\n"`, `out 0 "b\xff\x00c\n"`, `out 0 "\n"`, `out 0 "end"`} {
		b.up.untilLine(t, want)
	}
}

func TestPromptComesAfterSilence(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 1, `printf 'name? '; read name; echo "hello $name"`, rank.Of(0))
	b.up.untilLine(t, `out 0 "name? "`)
	if got := b.ask(t, 1, "send", protocol.Args{Data: []byte("J\xfcrgen\n")}); got[0] != "reply [0] {}" {
		t.Errorf("send: %v", got)
	}
	b.up.untilLine(t, "exited [0]")
	if got := b.up.output("out 0"); got != "name? hello J\xfcrgen\n" {
		t.Errorf("output %q", got)
	}
}

func TestStopFollowsOutput(t *testing.T) {
	b := newBench(t, nil)
	// The rank reports by a FIFO when it has written; then it is stopped.
	dir := t.TempDir()
	b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "sh", Args: []string{"-c", "printf partial; echo done >ready; sleep 1000"}, Cwd: dir}})
	jam := b.jam()
	b.ask(t, 1, "continue", protocol.Args{})
	waitForFile(t, dir+"/ready")
	b.ask(t, 1, "interrupt", protocol.Args{})
	lines := strings.Join(b.up.lines(), "\n")
	out, stop := strings.Index(lines, `out 0 "partial"`), strings.Index(lines, `stopped [0] {"reason":"interrupted"}`)
	if out < 0 || stop < out {
		t.Errorf("output at %d, stop at %d:\n%s", out, stop, lines)
	}
	close(jam)
}

// jam congests the way up until the channel is closed.
func (b *bench) jam() chan struct{} {
	b.up.mu.Lock()
	defer b.up.mu.Unlock()
	b.up.jam = make(chan struct{})
	return b.up.jam
}

func (b *bench) unjam() {
	b.up.mu.Lock()
	defer b.up.mu.Unlock()
	close(b.up.jam)
	b.up.jam = nil
}

func TestFloodWaitsAndLosesNothing(t *testing.T) {
	b := newBench(t, nil)
	const lines = 200_000
	b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "seq", Args: []string{"1", fmt.Sprint(lines)}}})
	b.jam()
	b.ask(t, 1, "continue", protocol.Args{})
	b.up.until(t, "the reader waits", func() bool { return b.up.jammed > 0 })
	// A stop during congestion empties the pipe, and later output follows in order.
	b.ask(t, 1, "interrupt", protocol.Args{})
	early := len(b.up.output("out 0"))
	if early == 0 || early > readSize+64<<10 {
		t.Errorf("%d bytes went up although the way was congested", early)
	}
	b.unjam()
	b.ask(t, 1, "continue", protocol.Args{})
	b.up.untilLine(t, "exited [0]")
	var want bytes.Buffer
	for i := range lines {
		fmt.Fprintln(&want, i+1)
	}
	got := b.up.output("out 0")
	if sha256.Sum256([]byte(got)) != sha256.Sum256(want.Bytes()) {
		t.Errorf("%d bytes came of %d, or in another order", len(got), want.Len())
	}
}

func TestOutputOfOrphansOfARank(t *testing.T) {
	b := newBench(t, nil)
	dir := t.TempDir()
	b.ask(t, 1, "launch", protocol.Args{Job: &protocol.Job{Program: "sh", Args: []string{"-c",
		"mkfifo go; (read x <go; echo from the child) & exit 0"}, Cwd: dir}})
	b.ask(t, 1, "continue", protocol.Args{})
	b.up.untilLine(t, "exited [0]")
	writeTo(t, dir+"/go", "now\n")
	b.up.untilLine(t, `out 0 "from the child\n"`)
}

func TestStdin(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 2, "cat", rank.Of(1))
	b.up.untilLine(t, "exited [0]") // it has read end of file
	got := b.ask(t, 2, "send", protocol.Args{Data: []byte("for one")})
	if !strings.Contains(got[0], "error [0]") || !strings.Contains(got[0], "the rank has ended") || got[1] != "reply [1] {}" {
		t.Errorf("answers %q", got)
	}
	b.up.untilLine(t, `out 1 "for one"`)
	id := b.give(2, "send", protocol.Args{Data: []byte(" and the end"), EOF: true})
	b.answers(t, id, 2)
	b.up.untilLine(t, "exited [1]")
	if got := b.up.output("out 1"); got != "for one and the end" {
		t.Errorf("it read %q", got)
	}
}

func TestSendRefusals(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 2, "exec <&-; echo closed; sleep 1000", rank.Of(1))
	b.up.untilLine(t, `out 1 "closed\n"`)
	got := b.ask(t, 2, "send", protocol.Args{Data: []byte("x")})
	if !strings.Contains(got[0], "does not read our standard input") || !strings.Contains(got[1], "is closed") {
		t.Errorf("answers %q", got)
	}
}

func TestSendToARankThatDoesNotRead(t *testing.T) {
	b := newBench(t, nil)
	b.shell(t, 1, "sleep 1000", rank.Of(0))
	waiting := b.give(1, "send", protocol.Args{Data: make([]byte, maxUnread)})
	got := b.ask(t, 1, "send", protocol.Args{Data: make([]byte, maxUnread)})
	if !strings.Contains(got[0], "has not read what it was sent before") || !strings.Contains(got[0], "let it run until it reads") {
		t.Errorf("answers %q", got)
	}
	b.close(t.Context()) // the blocked writer does not delay it
	for _, l := range b.up.lines() {
		if strings.HasPrefix(l, fmt.Sprintf("%d: reply", waiting)) {
			t.Errorf("the bytes that were never read were sent: %s", l)
		}
	}
}

// Data that is written last, between the two checks of the kernel, comes with the read after the
// first EIO.
func TestEndOfATerminalIsMadeSureOf(t *testing.T) {
	type result struct {
		n   int
		err error
	}
	const eio, eintr, eagain = syscall.EIO, syscall.EINTR, syscall.EAGAIN
	for _, c := range []struct {
		script []result
		want   result
	}{
		{[]result{{5, nil}}, result{5, nil}},
		{[]result{{-1, eintr}, {5, nil}}, result{5, nil}},
		{[]result{{-1, eio}, {5, nil}}, result{5, nil}},
		{[]result{{-1, eio}, {-1, eintr}, {-1, eio}}, result{-1, eio}},
		{[]result{{-1, eio}, {-1, eagain}}, result{-1, eagain}}, // the terminal was opened again
		{[]result{{0, nil}}, result{0, nil}},
	} {
		i := 0
		n, err := readPastEIO(func() (int, error) {
			i++
			return c.script[i-1].n, c.script[i-1].err
		})
		if (result{n, err}) != c.want || i != len(c.script) {
			t.Errorf("%v: got %d, %v after %d", c.script, n, err, i)
		}
	}
}

// A partial line at the end of a full buffer is not a prompt: its rest is waited for.
func TestFullBuffersAreNotPrompts(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	o, err := newOutput(0, &eventSink{}, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := o.streams[0]
	for _, c := range []struct {
		bytes int
		wait  time.Duration
	}{{6, partialWait}, {blockSize, blockWait}, {10, partialWait}, {2 * blockSize, blockWait}, {blockSize + 1, partialWait}} {
		if _, err := out.Write(bytes.Repeat([]byte("x"), c.bytes)); err != nil {
			t.Fatal(err)
		}
		if n, err := o.take(s, int(in.Fd()), make([]byte, readSize)); n != c.bytes || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		before := time.Now()
		at := o.deadline(s)
		if at.Before(before.Add(c.wait)) || at.After(time.Now().Add(c.wait)) {
			t.Errorf("%d bytes: the rest is waited for until %v", c.bytes, at.Sub(before))
		}
	}
}
