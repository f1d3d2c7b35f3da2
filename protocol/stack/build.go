// Construction of trees from the stacks of threads.

package stack

import (
	"slices"

	"sdm/protocol/rank"
)

// Path is the stack of a thread, outermost frame first. It is immutable; several
// trees and goroutines may share it.
type Path struct{ frames []*Frame }

// NewPath returns a path, outermost frame first. If there are more than MaxDepth
// frames, the middle is replaced by one with Func "...". Bytes that are not UTF-8
// are replaced. NewPath owns the frames. OfPaths is faster if paths share frames.
func NewPath(frames ...*Frame) Path {
	if len(frames) > MaxDepth {
		const half = MaxDepth / 2
		short := slices.Clone(frames[:half])
		short = append(short, &Frame{Func: "..."})
		frames = append(short, frames[len(frames)-half+1:]...)
	}
	for i, f := range frames {
		if valid := f.valid(); valid != *f {
			frames[i] = &valid
		}
	}
	return Path{frames}
}

// PathOf returns a path as NewPath does.
func PathOf(frames []Frame) Path {
	list := make([]*Frame, len(frames))
	for i := range frames {
		list[i] = &frames[i]
	}
	return NewPath(list...)
}

// RankedPath is a stack and the ranks that have one thread each with this stack.
type RankedPath struct {
	Path  Path
	Ranks rank.Set
}

// New returns the tree of one thread of one rank. Frames are treated as by NewPath,
// and New owns them.
func New(r rank.ID, frames []Frame) *Tree {
	return Of(rank.Range(r, r), frames)
}

// Of returns the tree of ranks that have one thread each, with the same frames,
// outermost first. It equals the merged trees of New for each rank, at the cost of
// one.
func Of(ranks rank.Set, frames []Frame) *Tree {
	if ranks.IsEmpty() || len(frames) == 0 {
		return &Tree{}
	}
	path := PathOf(frames).frames
	b := treeBuilder{frames: slices.Clone(path), nodes: make([]node, len(path))}
	b.sort()
	for i, f := range path {
		b.nodes[i] = node{ranks, evenly(1), b.numberOf(f), uint32(len(path))}
	}
	return b.tree()
}

// sort sorts the frames and removes duplicates.
func (b *treeBuilder) sort() {
	slices.SortFunc(b.frames, compareFrames)
	b.frames = slices.CompactFunc(b.frames, func(f, g *Frame) bool { return f == g || *f == *g })
}

// numberOf returns the number of a frame that is in the list.
func (b *treeBuilder) numberOf(f *Frame) uint32 {
	i, _ := slices.BinarySearchFunc(b.frames, f, compareFrames)
	return uint32(i)
}

// OfPaths returns the tree of many stacks. It equals the merged trees of Of for
// each path, at the cost of one.
func OfPaths(paths []RankedPath) *Tree {
	var b pathsBuilder
	b.number(paths)
	slices.SortFunc(b.paths, func(p, q numberedPath) int { return slices.Compare(p.path, q.path) })
	b.nodes = make([]node, 0, b.count())
	b.siblings(b.paths, 0, rank.Set{}, counts{}, -1)
	return b.tree()
}

// pathsBuilder builds the tree of many stacks.
type pathsBuilder struct {
	treeBuilder
	paths []numberedPath
}

// numberedPath is a RankedPath with the numbers of its frames.
type numberedPath struct {
	path  []uint32
	ranks rank.Set
}

// number sets the frames of all paths and their numbers. Most paths share frames
// with the previous one; these are not looked up again.
func (b *pathsBuilder) number(paths []RankedPath) {
	length := 0
	var before []*Frame
	for _, p := range paths {
		length += len(p.Path.frames)
		for i, f := range p.Path.frames {
			if i >= len(before) || before[i] != f {
				b.frames = append(b.frames, f)
			}
		}
		before = p.Path.frames
	}
	b.sort()
	numbers := make([]uint32, 0, length)
	b.paths = make([]numberedPath, len(paths))
	before = nil
	for i, p := range paths {
		first := len(numbers)
		for k, f := range p.Path.frames {
			if k < len(before) && before[k] == f {
				numbers = append(numbers, b.paths[i-1].path[k])
			} else {
				numbers = append(numbers, b.numberOf(f))
			}
		}
		b.paths[i] = numberedPath{numbers[first:len(numbers):len(numbers)], p.Ranks}
		before = p.Path.frames
	}
}

// count returns the number of nodes of the paths, which are sorted.
func (b *pathsBuilder) count() int {
	n := 0
	var before []uint32
	for _, p := range b.paths {
		same := 0
		for same < len(before) && same < len(p.path) && before[same] == p.path[same] {
			same++
		}
		n += len(p.path) - same
		before = p.path
	}
	return n
}

// siblings adds the nodes at a depth for paths that have equal frames above it.
// above and by are the ranks and counts of their parent, and of is the number of paths
// of the parent; -1: there is no parent.
func (b *pathsBuilder) siblings(paths []numberedPath, depth int, above rank.Set, by counts, of int) {
	for len(paths) > 0 && len(paths[0].path) == depth {
		paths = paths[1:] // shorter paths come first, and are included in the parent
	}
	for len(paths) > 0 {
		frame := paths[0].path[depth]
		n := 1
		for n < len(paths) && paths[n].path[depth] == frame {
			n++
		}
		ranks, threads := above, by
		if n != of {
			ranks, threads = together(paths[:n])
		}
		at := b.open(frame, ranks, threads)
		b.siblings(paths[:n], depth+1, ranks, threads, n)
		b.close(at)
		paths = paths[n:]
	}
}

// together returns the ranks of paths, and how many paths each has.
func together(paths []numberedPath) (rank.Set, counts) {
	if len(paths) == 1 {
		return paths[0].ranks, evenly(1)
	}
	n := 0
	for _, p := range paths {
		n += p.ranks.Len()
	}
	all := make([]rank.ID, 0, n)
	for _, p := range paths {
		all = slices.AppendSeq(all, p.ranks.All())
	}
	ranks := rank.Of(all...)
	if ranks.Len() == n {
		return ranks, evenly(1)
	}
	slices.Sort(all)
	having := map[int][]rank.ID{}
	for i, k := 0, 0; i < n; i = k {
		for k = i; k < n && all[k] == all[i]; k++ {
		}
		having[k-i] = append(having[k-i], all[i])
	}
	var parts []Count
	for threads, ids := range having {
		parts = append(parts, Count{threads, rank.Of(ids...)})
	}
	return ranks, countsOf(parts)
}
