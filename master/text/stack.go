// Trees of stacks.

package text

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// stackTree writes the merged stacks as a tree: outermost frames first, then by descending number
// of ranks. The stack of main precedes other threads' stacks; one line for all helper threads follows,
// and then the processes that ranks have started. Files and libraries are without directories.
//
//	[0-7] (8) main work.c:55
//	├─ [0-2,4-7] (7) compute work.c:31
//	└─ [3] (1) compute work.c:29
//	   └─ helper work.c:18 ◀ SIGSEGV
//
// If there were several samples, the first line reports whether the ranks moved.
func stackTree(w *Writer, a Asked, g protocol.Group) []answer {
	if a.Export != "" {
		lines := strings.Split(strings.TrimSuffix(Export(g.Stack, a.Export, Sampled(g)), "\n"), "\n")
		for i := range lines {
			lines[i] = Clean(lines[i])
		}
		return []answer{{ranks: g.Ranks, lines: lines, bare: true}}
	}
	t := tree{w: w}
	s := SamplesOf(g)
	t.samples, t.moved = max(s.Samples, 1), s.Moved
	switch {
	case s.Moved:
		t.lines = append(t.lines, w.header(g.Ranks, rank.Set{})+" "+s.String()+", and were at:")
	case s.Samples > 0:
		t.lines = append(t.lines, w.header(g.Ranks, rank.Set{})+" "+s.String()+":")
	}
	roots := Roots(g.Stack)
	for _, root := range roots {
		t.root = stack.Base(roots, root)
		if root.Frame.Func == stack.Helpers {
			t.lines = append(t.lines, t.label(root)+t.helpers(root))
			continue
		}
		t.lines = append(t.lines, t.label(root)+w.frameOf(root))
		t.below(root, "")
	}
	t.lines = append(t.lines, w.Notes(g)...)
	return []answer{{ranks: g.Ranks, lines: t.lines, bare: true}}
}

// Sampled reports whether the stacks of an answer are from several samples.
func Sampled(g protocol.Group) bool {
	return SamplesOf(g).Samples > 0
}

// Samples is what an answer to stacks tells of its samples.
type Samples struct {
	Samples int    `json:"samples"` // 0: the stacks were looked at once, without --samples
	Every   string `json:"every"`
	Moved   bool   `json:"moved"`
}

// SamplesOf returns what an answer tells of its samples; nothing if there were none.
func SamplesOf(g protocol.Group) (s Samples) {
	if decode(g.Body, &s); s.Samples == 0 {
		return Samples{}
	}
	return s
}

// String returns "never moved in 4 samples, 150ms apart".
func (s Samples) String() string {
	times := Plural(s.Samples, "sample")
	if s.Samples != 1 {
		times += ", " + s.Every + " apart"
	}
	switch {
	case s.Moved:
		return "moved in " + times
	case s.Samples == 1:
		return "in " + times
	}
	return "never moved in " + times
}

// stackNotes are the columns of stacks that are shown, and how.
var stackNotes = map[string]string{
	protocol.PythonLock:    "the lock of Python is held in %s",
	protocol.PythonUnknown: "%s: native frames only",
	protocol.ThreadStates:  "threads: %s",
	protocol.CPUPercent:    "processor time: %s %%",
}

// fewValues is the number of different processor times that are listed.
const fewValues = 3

// Notes returns what is known of the stacks in addition to their frames, in lines such as "[0-3] (4) the lock of
// Python is held in Solver.exchange x.py:10".
func (w *Writer) Notes(g protocol.Group) (lines []string) {
	for _, c := range g.Columns {
		form := stackNotes[c.Name]
		if form == "" {
			continue
		}
		n, _ := c.Distinct()
		if s := c.Stats(); c.Name == protocol.CPUPercent && n > fewValues && s.Numbers > 0 {
			text := fmt.Sprintf(form, s.Lowest[0].Value+" to "+s.Highest[0].Value) + fmt.Sprintf(", mean %.0f %%", s.Mean)
			lines = append(lines, w.header(g.Ranks, rank.Set{})+" "+Clean(text))
			continue
		}
		values := c.Values()
		for _, v := range values[:min(len(values), column.DefaultLimit)] {
			head := "[" + clipped(v.Ranks) + "] (" + strconv.Itoa(v.Ranks.Len()) + ") "
			lines = append(lines, head+Clean(fmt.Sprintf(form, v.Value)))
		}
		if n > len(values) || n > column.DefaultLimit {
			lines = append(lines, w.header(g.Ranks, rank.Set{})+" "+c.Name+": "+Plural(n, "value"))
		}
	}
	return lines
}

// Plural returns "1 rank", "2 ranks".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// Export returns a tree in a format for other programs: "folded", "dot", or "json".
func Export(s *stack.Tree, form string, sampled bool) string {
	switch form {
	case "folded":
		return s.Folded()
	case "dot":
		return s.DOT(sampled)
	}
	if sampled {
		return string(s.SampledJSON()) + "\n"
	}
	return string(canonical.JSON(s)) + "\n"
}

// Roots returns the outermost frames of a tree in the order in which they are shown: main first, then helper threads,
// and processes that the ranks have started last.
func Roots(t *stack.Tree) []*stack.Node {
	roots := t.Roots()
	slices.SortStableFunc(roots, func(a, b *stack.Node) int { return rootOrder(a) - rootOrder(b) })
	return roots
}

// rootOrder returns 0 for the stack of the main thread, 2 for helper threads, 3 for processes that the ranks have
// started, otherwise 1.
func rootOrder(n *stack.Node) int {
	if n.Frame.IsProcess() {
		return 3
	}
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
		count := strconv.Itoa(t.threads(c))
		if !c.Ranks.Equal(n.Ranks) {
			count += " in [" + clipped(c.Ranks) + "]"
		}
		kinds = append(kinds, Clean(name)+" ("+count+")")
	}
	return n.Frame.Func + ": " + strings.Join(kinds, ", ") + "; stacks --all-threads shows them"
}

type tree struct {
	w       *Writer
	lines   []string
	samples int // threads of the tree are hits in so many samples
	moved   bool
	root    *stack.Node // of the current stacks
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

// threads returns the number of threads of a node in one sample, rounded up if it has changed.
func (t *tree) threads(n *stack.Node) int { return (n.Threads + t.samples - 1) / t.samples }

// label returns "[0-2,4-7] (7) ", with the number of threads if ranks have several; if ranks have
// moved "[1-3] (3, 40 %) ", the share of the samples of these ranks.
func (t *tree) label(n *stack.Node) string {
	text := "[" + clipped(n.Ranks) + "] (" + strconv.Itoa(n.Ranks.Len())
	switch threads := t.threads(n); {
	case t.moved:
		text += ", " + n.ShareOf(t.root).String()
	case threads != n.Ranks.Len():
		text += ", " + strconv.Itoa(threads) + " threads"
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
	text := Clean(strings.Join(parts, " "))
	if f.Mark != "" {
		text += " " + w.paint(true, "◀ "+Clean(f.Mark))
	}
	return text
}
