package launch

import (
	"context"

	"sdm/protocol"
)

// Launcher takes hold of one job of a resource manager, whatever that is. The
// order of calls is Acquire, (servers are started, ranks attached), Release,
// End. One goroutine calls them.
type Launcher interface {
	// Acquire returns when it is known where the ranks are: of a job that is
	// being launched when all are held before they leave initialisation, of a
	// running one at once. say takes a line about a wait that takes long. The
	// error tells why there is no such job, in words for people.
	Acquire(ctx context.Context, say func(string)) (protocol.Proctable, error)
	// Release lets held ranks go on, once. It must not be called before every
	// rank that was asked for is attached or given up.
	Release() error
	// End returns when nothing of ours is left at the job. One that we launched
	// is ended first, gently while ctx lasts; one that was running runs on.
	End(ctx context.Context) error
}
