package console

import (
	"bytes"
	"fmt"
	"testing"
)

func TestKeyDecoder(t *testing.T) {
	for _, c := range []struct{ name, keys, told string }{
		{"characters", "print grün £ \u00a0日本", "print grün £ \u00a0日本"},
		{"editing", "\x01\x02\x05\x06\x0b\x0e\x10\x12\x13\x15\x17\x19\x7f\b\t\r\n\a", "\x01\x02\x05\x06\x0b\x0e\x10\x12\x13\x15\x17\x19\x7f\b\t\r\n\a"},
		{"interrupt, end, stop", "\x03\x04\x1a", "\x03\x04\x1a"},
		{"without a meaning", "a\x00\x0f\x11\x16\x18\x1c\x1d\x1e\x1fb", "ab"},
		{"C1 characters", "a\u0080\u009b\u009fb", "ab"},
		{"arrows", "\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1bOB\x1bOC\x1bOD", "\x10\x0e\x06\x02\x10\x0e\x06\x02"},
		{"arrows by word", "\x1b[1;5C\x1b[1;3D\x1bO5C\x1b[5D", "\x1bf\x1bb\x1bf\x1bb"},
		{"Home and End", "\x1b[H\x1b[F\x1bOH\x1bOF\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "\x01\x05\x01\x05\x01\x05\x01\x05"},
		{"Delete", "\x1b[3~", "\x00"},
		{"Delete by word", "\x1b[3;5~\x1bd", "\x1bd\x1bd"},
		{"Alt", "\x1bf\x1bb\x1b\x7f\x1bx\x1bé.\x1b\x1b[C", "\x1bf\x1bb\x1b\x7f.\x06"},
		{"Insert, pages, function keys", "a\x1b[2~\x1b[5~\x1b[6~\x1bOP\x1b[15~\x1b[24;2~\x1b[[Ab", "ab"},
		{"pasted", "\x1b[200~print n\x1b[201~\r", "print n\r"},
		{"mouse, focus, reports", "a\x1b[M !!\x1b[<0;10;10M\x1b[I\x1b[12;40R\x1b[?1;2cb", "ab"},
		{"cut off", "\x1b[1\x03\x1b\x03\x1b[3\r", "\x03\x03\r"},
		{"too long", "\x1b[" + string(bytes.Repeat([]byte("1"), 3*maxParams)) + "~b", "b"},
		{"not UTF-8", "\xc2\x03\xffa", "\xc2\x03\xffa"},
	} {
		var d keyDecoder
		var told []byte
		for _, b := range []byte(c.keys) {
			told = d.step(told, b)
		}
		if string(told) != c.told {
			t.Errorf("%s: %q is told as %q, want %q", c.name, c.keys, told, c.told)
		}
	}
}

// No key but Ctrl-D, Ctrl-C and Enter ends the reading of a line, empty or not, and none writes
// something that is not seen. The keys are a terminal's: each control character, each with Escape, and sequences.
func TestTerminalKeys(t *testing.T) {
	term, master, screen := openTerminal(t, "")
	var all []string
	for b := range 128 {
		all = append(all, fmt.Sprintf("\x1b%c", b), fmt.Sprintf("\x1b[%d~", b), fmt.Sprintf("\x1b[1;5%c", 'A'+b%26), fmt.Sprintf("\x1bO%c", 'A'+b%26))
		if b < ' ' || b == 127 {
			all = append(all, string(rune(b)))
		}
	}
	all = append(all, "\x1b[[A", "\x1b[Z", "\u0085")
	for i, key := range all {
		switch key {
		case "\x03", "\x04", "\r", "\n", "\x1b\x03", "\x1b\x04", "\x1b\r", "\x1b\n", // end the line
			"\x12", "\x13", "\x1b\x12", "\x1b\x13", "\x1a", "\x1b\x1a", // search in the history; stop the process
			"\x10", "\x1b\x10", "\x0e", "\x1b\x0e", "\x1b[", "\x1bO": // show the history; begin a sequence
			continue
		}
		for _, line := range []string{"", "ab"} {
			prompt := fmt.Sprintf("%d%s> ", i, line)
			got := read(term, prompt)
			screen.await(t, prompt, 1)
			master.WriteString(line + key + "\x05\x15print n\r") // to the end, delete all
			if l := lineOf(t, got); l.line != "print n" || l.err != nil {
				t.Fatalf("%q after %q: read %q, %v", key, line, l.line, l.err)
			}
		}
	}
}

// Delete removes the character at the cursor, and nothing on an empty line, which Ctrl-D would end.
func TestTerminalDelete(t *testing.T) {
	term, master, screen := openTerminal(t, "")
	got := read(term, "> ")
	screen.await(t, "> ", 1)
	master.WriteString("\x1b[3~xpprint\x1b[H\x1b[3~\x04\x05\x1b[3~\x04\r")
	if l := lineOf(t, got); l.line != "print" || l.err != nil {
		t.Errorf("read %q, %v", l.line, l.err)
	}
	got = read(term, "end> ")
	screen.await(t, "end> ", 1)
	master.WriteString("x\x7f\x1b[3~\x1b[3~\x04")
	if l := lineOf(t, got); l.err == nil || l.err.Error() != "EOF" {
		t.Errorf("read %q, %v", l.line, l.err)
	}
}

// A line that is not complete when the terminal goes is not executed.
func TestTerminalThatGoes(t *testing.T) {
	term, master, screen := openTerminal(t, "")
	got := read(term, "> ")
	screen.await(t, "> ", 1)
	master.WriteString("kill")
	screen.await(t, "kill", 1)
	master.Close()
	if l := lineOf(t, got); l.err == nil {
		t.Errorf("read %q", l.line)
	}
}
