package routefile

import (
	"context"
	"fmt"
	"os"
	"time"

	"sdm/protocol"
)

// Read reads a routing file.
func Read(path string) (protocol.RouteTable, error) {
	f, err := os.Open(path)
	if err != nil {
		return protocol.RouteTable{}, fmt.Errorf("routing file: %w", err)
	}
	defer f.Close()
	table, err := Parse(f)
	if err != nil {
		return table, fmt.Errorf("routing file %s: %w", path, err)
	}
	return table, nil
}

// retryPause is the time between two attempts of Await to read the file.
const retryPause = 50 * time.Millisecond

// Await reads a file that may not exist or not be complete yet: a script writes it, line by line,
// while master and servers start. wait bounds the attempts; 0 is without limit.
func Await(ctx context.Context, path string, wait time.Duration) (protocol.RouteTable, error) {
	var late <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	again := time.NewTicker(retryPause)
	defer again.Stop()
	for {
		table, err := Read(path)
		if err == nil {
			return table, nil
		}
		select {
		case <-again.C:
		case <-late:
			return table, fmt.Errorf("%w (after %v)", err, wait)
		case <-ctx.Done():
			return table, ctx.Err()
		}
	}
}
