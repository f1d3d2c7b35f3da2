// The interface of launchers.

package launch

import (
	"context"

	"sdm/protocol"
)

// Launcher gets control of one job of a starter or resource manager. The order of calls is Acquire,
// Release, End; between Acquire and Release servers are started and ranks are attached. One
// goroutine calls them.
type Launcher interface {
	// Acquire returns the ranks of the job. For a job that is being launched it returns when all
	// ranks are held before they leave initialisation; for a running one at once. say is called
	// with a line of text for the user during a long wait. The error says, for users, why there is
	// no such job.
	Acquire(ctx context.Context, say func(string)) (protocol.Proctable, error)
	// Release lets held ranks go on; it is called once. It must not be called before every rank
	// that was asked for is attached or given up.
	Release() error
	// End returns when no process or change of sdm is left at the job. A job that sdm launched is
	// terminated, and killed when ctx ends; one that was running before runs on.
	End(ctx context.Context) error
}
