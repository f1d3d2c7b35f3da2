// Options of a dial.

package overlay

import "context"

// dialOptions holds the options of a dial. It travels in the context from the loop to
// Dial and Greet, because the owner's Dial function in between chooses addresses
// and secrets only.
type dialOptions struct {
	epoch    uint64 // to be proved to the child; 0: the one in the given Identity
	listened bool   // the child has listened before: a closed port means that it has ended
}

type dialOptionsKey struct{}

func withDialOptions(ctx context.Context, e dialOptions) context.Context {
	return context.WithValue(ctx, dialOptionsKey{}, e)
}

func dialOptionsOf(ctx context.Context) dialOptions {
	e, _ := ctx.Value(dialOptionsKey{}).(dialOptions)
	return e
}
