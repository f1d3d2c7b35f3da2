// Trees for other programs: folded stacks, DOT.

package stack

import (
	"strconv"
	"strings"
)

// Folded returns a line for each distinct stack of a thread: its frames, outermost
// first, separated by semicolons, then a blank and the number of threads, or of hits
// if there were several samples. Flame graph programs and speedscope read this format.
// Lines are in the order of Children.
func (s *Tree) Folded() string {
	var b strings.Builder
	for _, n := range s.Roots() {
		n.fold(&b, "")
	}
	return b.String()
}

// foldable replaces separators in the text of a frame.
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

// shown is String with a placeholder for frames without a name.
func (f Frame) shown() string {
	if f.Func == "" {
		f.Func = "??"
	}
	return f.String()
}

// DOT returns the tree as a graph in the language of Graphviz: frames are boxes,
// and each edge is labelled with the ranks of the called frame, and with its share if
// there were several samples.
func (s *Tree) DOT(sampled bool) string {
	w := &dotWriter{sampled: sampled}
	w.b.WriteString("digraph stacks {\n\tnode [shape=box];\n\tstart [shape=point];\n")
	roots := s.Roots()
	for _, n := range roots {
		w.root = Base(roots, n)
		w.node(n, "start")
	}
	w.b.WriteString("}\n")
	return w.b.String()
}

type dotWriter struct {
	b       strings.Builder
	count   int
	sampled bool
	root    *Node // root of the present node, for shares
}

func (w *dotWriter) node(n *Node, from string) {
	w.count++
	name := "n" + strconv.Itoa(w.count)
	w.b.WriteString("\t" + name + " [label=" + dotText(n.Frame.shown()) + colour(n.Frame) + "];\n")
	label := "[" + n.Ranks.String() + "] (" + strconv.Itoa(n.Ranks.Len())
	switch {
	case w.sampled:
		label += ", " + n.ShareOf(w.root).String()
	case n.Threads != n.Ranks.Len():
		label += ", " + strconv.Itoa(n.Threads) + " threads"
	}
	w.b.WriteString("\t" + from + " -> " + name + " [label=" + dotText(label+")") + "];\n")
	for _, c := range n.Children() {
		w.node(c, name)
	}
}

// colour returns the DOT attribute that marks a frame with a Mark.
func colour(f Frame) string {
	if f.Mark == "" {
		return ""
	}
	return ", color=red"
}

// dotText quotes a text. In DOT a backslash starts an escape.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "").Replace(s) + `"`
}
