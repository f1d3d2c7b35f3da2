// What a dialling side is sent for.

package overlay

import "context"

// errand goes with the context from the loop to Dial and Greet, past the owner,
// who chooses addresses and secrets and has no say in it.
type errand struct {
	epoch uint64 // to be proved to the child; 0: that of the identity given
	there bool   // the child has listened before: if its port is closed, it has ended
}

type errandKey struct{}

func withErrand(ctx context.Context, e errand) context.Context {
	return context.WithValue(ctx, errandKey{}, e)
}

func errandOf(ctx context.Context) errand {
	e, _ := ctx.Value(errandKey{}).(errand)
	return e
}
