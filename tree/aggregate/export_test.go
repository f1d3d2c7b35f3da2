package aggregate

// Collide makes all groups have the same hash, so that only a comparison of bytes
// distinguishes them.
func (r *Replies) Collide() { r.hash.blind = true }

// Collide does the same as Replies.Collide.
func (p *Pending) Collide() { p.hash.blind = true }
