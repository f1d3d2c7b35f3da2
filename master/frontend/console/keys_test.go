package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// tripwire calls a function when a text is written for the first time.
type tripwire struct {
	io.Writer
	text string
	trip func()
}

func (w *tripwire) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if w.text != "" && strings.Contains(string(b), w.text) {
		w.text = ""
		w.trip()
	}
	return n, err
}

func openTerminalOn(t *testing.T, wrap func(io.Writer) io.Writer) (*Terminal, *os.File, *fakeScreen) {
	t.Helper()
	master, slave := openPTY(t)
	term, err := NewTerminal(slave, wrap(slave), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close() })
	return term, master, watch(t, master)
}

// Text that is written while the prompt appears is not left after it, without another prompt.
func TestTerminalTextWhileThePromptIsDrawn(t *testing.T) {
	wire := &tripwire{}
	term, master, screen := openTerminalOn(t, func(w io.Writer) io.Writer { wire.Writer = w; return wire })
	for i := range 50 {
		prompt, text := fmt.Sprintf("(%d) ", i), fmt.Sprintf("[0-7] event %d", i)
		written, begun := make(chan struct{}), make(chan struct{})
		wire.text, wire.trip = prompt, func() {
			go func() {
				defer close(written)
				close(begun)
				fmt.Fprintln(term.Above(), text)
			}()
			<-begun
		}
		got := read(term, prompt)
		<-written
		screen.await(t, text+"\r\n"+prompt, 1)
		master.WriteString("x\r")
		if l := <-got; l.line != "x" || l.err != nil {
			t.Fatalf("read %q, %v", l.line, l.err)
		}
	}
}

// After a line is read, no prompt is drawn until the next one is requested.
func TestTerminalTextAfterALine(t *testing.T) {
	term, master, screen := openTerminal(t, "")
	for i := range 50 {
		prompt, text := fmt.Sprintf("(%d) ", i), fmt.Sprintf("[0-7] answer %d", i)
		got := read(term, prompt)
		screen.await(t, prompt, 1)
		master.WriteString("x\r")
		<-got
		fmt.Fprintln(term.Above(), text)
		screen.await(t, text+"\r\n", 1)
		if want := prompt + "x\r\n" + text + "\r\n"; !strings.HasSuffix(screen.text(), want) {
			t.Fatalf("%q does not end with %q", screen.text(), want)
		}
	}
}

// The partly typed line is preserved when text is written above it, after each character.
func TestTerminalTextWhileTyping(t *testing.T) {
	term, master, _ := openTerminal(t, "")
	got := read(term, "> ")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 {
			fmt.Fprintf(term.Above(), "[0-7] line %d\n", i)
		}
	}()
	want := strings.Repeat("print grün ", 20)
	master.WriteString(want)
	<-done
	master.WriteString("\r")
	if l := <-got; l.line != want || l.err != nil {
		t.Errorf("read %q, %v", l.line, l.err)
	}
}
