package e2e

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
	"sdm/protocol/rank"
)

// TestEclipseValues reads values of a real program as Eclipse's Java code does. What Java would throw
// ends Eclipse.
func TestEclipseValues(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.eclipse(program("aif"))
	p.ask(ptp.EventBreak, ptp.LineBreak, four, "7", "0", "0", "aif.c", strconv.Itoa(lineOf(t, "aif.c", "stops here")), "", "0", "0")
	p.ask(ptp.EventOK, ptp.Go, four)
	p.await(ptp.EventSuspend, four)
	for expr, want := range map[string]string{
		"small": "-5", "big": "3000000000", "huge": "18446744073709551615", "usual": "7", "wide": "-42",
		"letter": "'A'", "newline": "10", "yes": "true", "quarter": "0.25", "half": "0.5", "more": "2.5",
		"beyond[0]": "1", "beyond[1]": "-9.99999999999999999997e+3999", "beyond": "[1 -9.99999999999999999997e+3999]", "1/beyond[1]": "-9.99999999999999999987e-4001",
		"turned": "{re=1 im=2}", "green": "GREEN", "none": "7", "both": "A | C", "high": "HIGH", "little": "YES",
		"person":    "{name=[0 - 8] age=36 pay=1000 title=hé \"x\"\n}",
		"people":    "[{name=[0 - 8] age=1 pay=2 title=} {name=[0 - 8] age=3 pay=4 title=it}]",
		"number":    "{i=0 d=2.5}",
		"anonymous": "{i=1 f=1e-45 a=2 b=1.5}",
		"nested":    "{before=1 in=[0 - 2]}", "(nested).in": "[{y=2} {y=3}]",
		"bits":   "{low=5 high=-3 both=B | C}",
		"matrix": "[[1 2] [3 4]]",
		"text":   "hé", "alone": "alone", "nothing": "", "broken": "<error: Cannot access memory at address 0x1>",
		"words": "[one two]", "mixed": "[1 18446744073709551615]",
		"large": "{before=[0 - 20000] key=42}", "table": "[{before=[0 - 20000] key=7} {before=[0 - 20000] key=8} {before=[0 - 20000] key=9}]",
		"empty": "0x0000000000000000", "person.age + 1": "37", "person.name": "['A' 'd' 'a' 0 0 0 0 0]",
		"sizeof(int)": "4", "*((many)+100)@3": "[4711 0 0]",
	} {
		if got := p.shown(ptp.Evaluate, expr); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	// Newer gdbs (16) tell no offsets where there is a flexible array ("ptype/o does not work with dynamic
	// types"): such a structure is text.
	if got := p.shown(ptp.Evaluate, "flexible"); got != "{n=5 data=[0 - 0]}" && !strings.HasPrefix(got, "{n = 5, data = 0x") {
		t.Errorf("flexible: %q", got)
	}
	for expr, want := range map[string]string{"pointer": " 4711", "pinned": " 4711", "list": " {value=7 next=0x"} {
		if got := p.shown(ptp.Evaluate, expr); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	// What the view of variables asks for, before anything is expanded, and page by page.
	for expr, want := range map[string]string{
		"person": "{}", "number": "{}", "many": "[0 - 20000]", "people": "[0 - 2]", "big": "3000000000", "text": "hé",
		"longer": strings.Repeat("0123456789", 30) + "...", "sizeof(big) >= 4": "1",
	} {
		if got := p.shown(ptp.EvaluatePartial, expr, "", "0", "0"); got != want {
			t.Errorf("%s, not expanded: %q, want %q", expr, got, want)
		}
	}
	for _, expr := range []string{"hollow", "flexible", "(flexible).data"} {
		p.shown(ptp.EvaluatePartial, expr, "", "1", "0") // Java throws nothing
	}
	page := p.shown(ptp.EvaluatePartial, "*((many)+19900)@100", "", "1", "0")
	if fields := strings.Fields(strings.Trim(page, "[]")); len(fields) != 100 || fields[99] != "4712" {
		t.Errorf("the last page: %s", page)
	}
	p.outputWhileStepped()
	p.quit()
}

// shown evaluates an expression, which all ranks must answer alike, and returns what Java shows.
func (p *platform) shown(command ptp.Code, expr string, args ...string) string {
	p.s.t.Helper()
	found := p.ask(ptp.EventData, command, four, append([]string{expr}, args...)...)
	var told rank.Set
	alike := true
	for _, f := range found { // answers that come late are not merged with the first ones
		ranks, _, err := ptp.ParseSet(f.Args[0])
		p.must(err)
		told = told.Union(ranks)
		alike = alike && slices.Equal(f.Args[1:4], found[0].Args[1:4])
	}
	if !alike || !told.Equal(four) {
		p.s.t.Errorf("%s: heard %v", expr, found)
		return ""
	}
	text, err := ptptest.Show(found[0].Args[1], found[0].Args[2])
	if err == nil && command == ptp.EvaluatePartial && args[1] == "1" {
		_, err = ptptest.Expand(found[0].Args[1], found[0].Args[2])
	}
	if err != nil {
		p.s.t.Errorf("%s: Java throws %v of %v", expr, err, found[0])
	}
	return text
}

// outputWhileStepped steps over two lines that write and do not flush, and kills the ranks: all that
// they have written is there.
func (p *platform) outputWhileStepped() {
	p.s.t.Helper()
	want := ""
	for _, text := range []string{"first", "second"} {
		p.ask(ptp.EventOK, ptp.Step, four, "1", "1")
		for _, stop := range p.await(ptp.EventSuspend, four) {
			if n := stop.Args[9]; text == "second" && n != "0" { // at the first stop none has been compared
				p.s.t.Errorf("%s expressions are told as changed: %v", n, stop)
			}
		}
		want += strings.Repeat(text+"\n", 4)
	}
	p.all(ptp.EventOK, "", ptp.Terminate, four)
	p.s.eventually(patience, func() string {
		if got := p.output(); got != want {
			if _, err := p.Next(); err != nil {
				return err.Error()
			}
			return got
		}
		return ""
	})
}

// output returns what the ranks have written, a line of several as often as there are ranks.
func (p *platform) output() string {
	all := map[string]int{}
	for _, heard := range p.Received {
		if heard.ID != ptp.EventOutput {
			continue
		}
		ranks, _, err := ptp.ParseSet(heard.Args[0])
		p.must(err)
		for line := range strings.Lines(heard.Args[1]) {
			all[line] += ranks.Len()
		}
	}
	text := ""
	for _, line := range slices.Sorted(maps.Keys(all)) {
		text += strings.Repeat(line, all[line])
	}
	return text
}

// TestEclipseFortran reads values of Fortran. Eclipse writes members and elements as C does, and asks
// for main, which is not the program unit.
func TestEclipseFortran(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.eclipse(program("aif90"))
	p.ask(ptp.EventBreak, ptp.FuncBreak, four, "1", "0", "0", "", "main", "", "0", "0")
	p.ask(ptp.EventOK, ptp.Go, four)
	p.await(ptp.EventSuspend, four)
	for _, frames := range p.ask(ptp.EventFrames, ptp.ListFrames, four, "0", "0") {
		if frames.Args[3] != "aif.f90" {
			t.Errorf("stopped in %v", frames)
		}
	}
	p.ask(ptp.EventBreak, ptp.LineBreak, four, "2", "0", "0", "aif.f90", strconv.Itoa(lineOf(t, "aif.f90", "stops here")), "", "0", "0")
	p.ask(ptp.EventOK, ptp.Go, four)
	p.await(ptp.EventSuspend, four)
	const point = "{x=0.5 tag=[0 - 3] on=true name=abc   z={re=3 im=4}}"
	for expr, want := range map[string]string{
		"p": point, "many": "[" + point + " " + point + "]", "(p).tag": "[7 8 9]", "((p).tag)[1]": "8", "((many)[1]).x": "0.5", "((grid)[1])[2]": "6", "p%x": "0.5", "(p).x": "0.5",
		"grid": "[[1 2 3] [4 5 6]]", "short": "-3", "yes": "true", "word": "it's    ", "c": "{re=1 im=2}", "line": "[1.5 2.5 3.5]", "none": "<not allocated>",
		"*((line)+1)@2": "[2.5 3.5]", "(p).name": "abc  ", "odd": "[0 +Inf -Inf]",
		// of a module; elements that are not adjacent; bounds other than 1; pointers
		"table": "[[1 2 3 4] [5 6 7 8] [9 10 11 12] [13 14 15 16] [17 18 19 20] [21 22 23 24]]", "part": "[[10 12] [22 24]]", "(part)[1]": "[22 24]", "*((part)+1)@1": "[[22 24]]",
		"*((many)+1)@1": "[" + point + "]", "head": "{value=1 at=" + point + " extra=[0 - 4] next=0x*}", "((head).extra)[3]": "2.5",
		"(head).next": "0x* {value=2 at=" + point + " extra=<not allocated> next=0x0000000000000000}", "((head).next)->value": "2", "((head).next)->next": "0x0000000000000000",
	} {
		if got := addresses.ReplaceAllString(p.shown(ptp.Evaluate, expr), "0x*"); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	p.all(ptp.EventType, "integer(kind=4) (2)", ptp.GetType, four, "(part)[1]")
	p.ask(ptp.EventBreak, ptp.LineBreak, four, "3", "0", "0", "aif.f90", strconv.Itoa(lineOf(t, "aif.f90", "print *, a(1, 0)")), "", "0", "0")
	p.ask(ptp.EventOK, ptp.Go, four)
	p.await(ptp.EventSuspend, four)
	for expr, want := range map[string]string{"a": "[[10 12] [22 24]]", "((a)[1])[0]": "22", "title": "the title"} {
		if got := p.shown(ptp.Evaluate, expr); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	p.quit()
}

// addresses matches addresses that are not null, which differ between compilers and runs.
var addresses = regexp.MustCompile(`0x0000[0-9a-f]*[1-9a-f][0-9a-f]*`)
