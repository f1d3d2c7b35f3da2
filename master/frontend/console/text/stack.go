package text

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// stackTree writes the merged stacks as a tree: outermost frames first, then by descending number
// of ranks. The stack of main precedes those of other threads; one line for all helper threads is
// last. Files and libraries are without directories.
//
//	[0-7] (8) main work.c:55
//	├─ [0-2,4-7] (7) compute work.c:31
//	└─ [3] (1) compute work.c:29
//	   └─ helper work.c:18 ◀ SIGSEGV
//
// If there were several samples, the first line tells whether the ranks moved.
func stackTree(w *Writer, a Asked, g protocol.Group) []answer {
	if a.Export != "" {
		lines := strings.Split(strings.TrimSuffix(Export(g.Stack, a.Export), "\n"), "\n")
		for i := range lines {
			lines[i] = w.clean(lines[i])
		}
		return []answer{{ranks: g.Ranks, lines: lines, bare: true}}
	}
	t := tree{w: w}
	text, samples := sampled(g.Body)
	t.samples = samples
	if text != "" {
		t.lines = append(t.lines, w.header(g.Ranks, rank.Set{})+" "+text)
	}
	roots := slices.Clone(g.Stack.Roots())
	slices.SortStableFunc(roots, func(a, b *stack.Node) int { return startsElsewhere(a) - startsElsewhere(b) })
	for _, root := range roots {
		if root.Frame.Func == stack.Helpers {
			t.lines = append(t.lines, t.label(root)+t.helpers(root))
			continue
		}
		t.lines = append(t.lines, t.label(root)+w.frameOf(root))
		t.below(root, "")
	}
	t.lines = append(t.lines, w.Interpreters(g)...)
	return []answer{{ranks: g.Ranks, lines: t.lines, bare: true}}
}

// sampled describes the samples; "" if there was only one without --samples. samples is their
// number if the ranks moved.
func sampled(body []byte) (text string, samples int) {
	var s struct {
		Samples int    `json:"samples"`
		Every   string `json:"every"`
		Moved   bool   `json:"moved"`
	}
	if decode(body, &s); s.Samples == 0 {
		return "", 0
	}
	times := plural(s.Samples, "sample") + ", " + s.Every + " apart"
	if s.Samples == 1 {
		times = "1 sample"
	}
	switch {
	case s.Moved:
		return "moved in " + times + ", and were at:", s.Samples
	case s.Samples == 1:
		return "in " + times + ":", 0
	}
	return "never moved in " + times + ":", 0
}

// Interpreters returns what the stacks say of interpreters of Python beside their frames, in lines
// such as "[0-3] (4) the lock of Python is held in Solver.exchange x.py:10".
func (w *Writer) Interpreters(g protocol.Group) (lines []string) {
	for _, c := range g.Columns {
		form := map[string]string{protocol.PythonLock: "the lock of Python is held in %s", protocol.PythonUnknown: "%s: native frames only"}[c.Name]
		if form == "" {
			continue
		}
		for _, v := range c.Values() {
			head := "[" + clipped(v.Ranks) + "] (" + strconv.Itoa(v.Ranks.Len()) + ") "
			lines = append(lines, head+w.clean(fmt.Sprintf(form, v.Value)))
		}
		if n, _ := c.Distinct(); !c.Complete() {
			lines = append(lines, w.header(g.Ranks, rank.Set{})+" "+c.Name+": "+plural(n, "value"))
		}
	}
	return lines
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// Export returns a tree in a format for other programs: "folded", "dot", or "json".
func Export(s *stack.Tree, form string) string {
	switch form {
	case "folded":
		return s.Folded()
	case "dot":
		return s.DOT()
	}
	return string(canonical.JSON(s)) + "\n"
}

// startsElsewhere returns 0 for the stack of the main thread, 2 for helper threads, otherwise 1.
func startsElsewhere(n *stack.Node) int {
	switch n.Frame.Func {
	case "main", "MAIN__", "_start":
		return 0
	case stack.Helpers:
		return 2
	}
	return 1
}

// helpers returns "helper threads: libgomp.so.1 (4), progress_engine from libopen-pal.so.40 (2);
// stacks --all-threads shows them".
func (t *tree) helpers(n *stack.Node) string {
	var kinds []string
	for _, c := range n.Children() {
		name := path.Base(c.Frame.From)
		if f := c.Frame.Func; f != "" && f != "??" {
			name = f + " from " + name
		}
		count := strconv.Itoa(c.Threads)
		if !c.Ranks.Equal(n.Ranks) {
			count += " in [" + clipped(c.Ranks) + "]"
		}
		kinds = append(kinds, t.w.clean(name)+" ("+count+")")
	}
	return n.Frame.Func + ": " + strings.Join(kinds, ", ") + "; stacks --all-threads shows them"
}

type tree struct {
	w       *Writer
	lines   []string
	samples int // of ranks that moved: threads of the tree are hits in so many samples; otherwise 0
}

func (t *tree) below(n *stack.Node, indent string) {
	children := n.Children()
	for i, c := range children {
		branch, deeper := "├─ ", "│  "
		if i == len(children)-1 {
			branch, deeper = "└─ ", "   "
		}
		label := ""
		if len(children) > 1 || c.Threads != n.Threads || !c.Ranks.Equal(n.Ranks) {
			label = t.label(c)
		}
		t.lines = append(t.lines, indent+branch+label+t.w.frameOf(c))
		t.below(c, indent+deeper)
	}
}

// label returns "[0-2,4-7] (7) ", with the number of threads if ranks have several; for several
// samples "[1-3] (3, 12 of 30 samples) ".
func (t *tree) label(n *stack.Node) string {
	text := "[" + clipped(n.Ranks) + "] (" + strconv.Itoa(n.Ranks.Len())
	switch looks := n.Ranks.Len() * t.samples; {
	case looks > 0 && n.Threads <= looks:
		text += ", " + strconv.Itoa(n.Threads) + " of " + plural(looks, "sample")
	case looks > 0: // several threads of a rank in one sample
		text += ", " + strconv.Itoa(n.Threads) + " hits in " + plural(looks, "sample")
	case n.Threads != n.Ranks.Len():
		text += ", " + strconv.Itoa(n.Threads) + " threads"
	}
	text += ")"
	if t.w.Color {
		text = cyan + text + reset
	}
	return text + " "
}

// frameOf returns "helper work.c:18 ◀ SIGSEGV".
func (w *Writer) frameOf(n *stack.Node) string {
	f := n.Frame
	fn := f.Func
	if fn == "" {
		fn = "??"
	}
	parts := []string{fn}
	if f.Call != "" {
		parts = append(parts, "("+f.Call+")")
	}
	switch {
	case f.File != "":
		parts = append(parts, place(protocol.Frame{File: path.Base(f.File), Line: f.Line}))
	case f.From != "":
		parts = append(parts, "from "+path.Base(f.From))
	}
	if f.Addr != "" {
		parts = append(parts, f.Addr)
	}
	text := w.clean(strings.Join(parts, " "))
	if f.Mark != "" {
		text += " " + w.paint(true, "◀ "+w.clean(f.Mark))
	}
	return text
}
