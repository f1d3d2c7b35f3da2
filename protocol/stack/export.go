// Tree trees for other programs: folded stacks, DOT.

package stack

import (
	"strconv"
	"strings"
)

// Folded gives a line for each stack that some thread has: its frames, outermost
// first, with semicolons between, then a blank and the number of threads. This
// is what flame graph programs read. Lines are in the order of Children.
func (s *Tree) Folded() string {
	var b strings.Builder
	for _, n := range s.Roots() {
		n.fold(&b, "")
	}
	return b.String()
}

// foldable keeps the text of a frame from being read as several.
var foldable = strings.NewReplacer(";", ",", "\n", " ", "\r", " ")

func (n *Node) fold(b *strings.Builder, before string) {
	stack := before + foldable.Replace(n.Frame.shown())
	if here := n.Here(); here > 0 {
		b.WriteString(stack + " " + strconv.Itoa(here) + "\n")
	}
	for _, c := range n.Children() {
		c.fold(b, stack+";")
	}
}

// shown is String with a name for frames that have none.
func (f Frame) shown() string {
	if f.Func == "" {
		f.Func = "??"
	}
	return f.String()
}

// DOT gives the tree as a graph in the language of Graphviz: frames are boxes,
// and the ranks that go from one to another stand on the edge between them.
func (s *Tree) DOT() string {
	w := &dotWriter{}
	w.b.WriteString("digraph stacks {\n\tnode [shape=box];\n\tstart [shape=point];\n")
	for _, n := range s.Roots() {
		w.node(n, "start")
	}
	w.b.WriteString("}\n")
	return w.b.String()
}

type dotWriter struct {
	b     strings.Builder
	count int
}

func (w *dotWriter) node(n *Node, from string) {
	w.count++
	name := "n" + strconv.Itoa(w.count)
	w.b.WriteString("\t" + name + " [label=" + dotText(n.Frame.shown()) + colour(n.Frame) + "];\n")
	label := "[" + n.Ranks.String() + "] (" + strconv.Itoa(n.Ranks.Len())
	if n.Threads != n.Ranks.Len() {
		label += ", " + strconv.Itoa(n.Threads) + " threads"
	}
	w.b.WriteString("\t" + from + " -> " + name + " [label=" + dotText(label+")") + "];\n")
	for _, c := range n.Children() {
		w.node(c, name)
	}
}

func colour(f Frame) string {
	if f.Mark == "" {
		return ""
	}
	return ", color=red"
}

// dotText gives a quoted text. In DOT a backslash begins an escape.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "").Replace(s) + `"`
}
