// Options of a dial.

package overlay

import "context"

// errand holds the options of a dial. It travels in the context from the loop to
// Dial and Greet, because the owner's Dial function in between chooses addresses
// and secrets only.
type errand struct {
	epoch uint64 // to be proved to the child; 0: that of the given Identity
	there bool   // the child has listened before: a closed port means that it has ended
}

type errandKey struct{}

func withErrand(ctx context.Context, e errand) context.Context {
	return context.WithValue(ctx, errandKey{}, e)
}

func errandOf(ctx context.Context) errand {
	e, _ := ctx.Value(errandKey{}).(errand)
	return e
}
