// Frames to which expressions belong.

package ptp

import (
	"regexp"
	"slices"

	"sdm/protocol/rank"
)

// spot is where some ranks stand: the selected frame of a thread. Frames are counted from the outermost one,
// which stays while a function is called or returns.
type spot struct {
	ranks  rank.Set
	thread string
	depth  int // of the stack; 0: not known
	level  int // of the selected frame
	fn     string
	locals []string // variables and arguments of the frame, if Eclipse has asked for them
}

// hasLocal reports whether an expression begins with a variable of the frame.
func (x spot) hasLocal(expr string) bool {
	return slices.Contains(x.locals, identifier.FindString(expr))
}

// add adds names of variables of the frame.
func (x *spot) add(names []string) {
	x.locals = slices.Clone(x.locals)
	for _, name := range names {
		if !slices.Contains(x.locals, name) {
			x.locals = append(x.locals, name)
		}
	}
}

var identifier = regexp.MustCompile(`[A-Za-z_]\w*`)

// spots are in no order; each rank is in one at most.
type spots []spot

// with returns the spots with a new one for its ranks.
func (s spots) with(other spot) spots {
	all := spots{other}
	for _, x := range s {
		if x.ranks = x.ranks.Minus(other.ranks); !x.ranks.IsEmpty() {
			all = append(all, x)
		}
	}
	return all
}

// of returns the spots of some ranks; of those that are not known, one without a depth.
func (s spots) of(ranks rank.Set) spots {
	var all spots
	for _, x := range s {
		if x.ranks = x.ranks.Intersect(ranks); !x.ranks.IsEmpty() {
			all = append(all, x)
			ranks = ranks.Minus(x.ranks)
		}
	}
	if !ranks.IsEmpty() {
		all = append(all, spot{ranks: ranks})
	}
	return all
}

// changed returns the spots after the spots of some ranks have changed.
func (s spots) changed(ranks rank.Set, change func(*spot)) spots {
	all := s
	for _, x := range s.of(ranks) {
		change(&x)
		all = all.with(x)
	}
	return all
}

// move changes the spots of ranks.
func (f *front) move(ranks rank.Set, change func(*spot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spots = f.spots.changed(ranks, change)
}

// levelOf returns at which level the selected frame of an earlier spot is now; there tells whether it still
// exists. Where that is not known, and for another thread, it is the current frame: 0.
func (x spot) levelOf(earlier spot) (level int, there bool) {
	known := func(n int) bool { return n > 0 && n < maxDepth }
	if !known(x.depth) || !known(earlier.depth) || x.thread != earlier.thread {
		return 0, true
	}
	level = x.depth - (earlier.depth - earlier.level)
	return level, level > 0 || level == 0 && (earlier.level > 0 || earlier.fn == x.fn)
}

// framed are ranks that have an expression's frame at one level.
type framed struct {
	ranks rank.Set
	level int
}

// levels divides ranks by the level at which they have the frame of an expression, evaluated at earlier spots.
// The ranks in gone have the frame no more. The ranks in lost do not have it either, but the expression may
// not be about it.
func (s spots) levels(earlier spots, ranks rank.Set, expr string) (at []framed, gone, lost rank.Set) {
	for _, then := range earlier.of(ranks) {
		for _, now := range s.of(then.ranks) {
			level, there := now.levelOf(then)
			switch {
			case !there && then.hasLocal(expr):
				gone = gone.Union(now.ranks)
				continue
			case !there:
				lost, level = lost.Union(now.ranks), 0
			}
			i := 0
			for i < len(at) && at[i].level != level {
				i++
			}
			if i == len(at) {
				at = append(at, framed{level: level})
			}
			at[i].ranks = at[i].ranks.Union(now.ranks)
		}
	}
	return at, gone, lost
}
