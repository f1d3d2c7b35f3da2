// An image of an array.

package whole

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
)

// maxPixels bounds each side of an image.
const maxPixels = 1024

// Colours of what is no number.
var (
	missing = color.RGBA{128, 128, 128, 255}
	strange = color.RGBA{255, 0, 0, 255} // NaN, infinite
)

// scale are the colours from the least to the greatest number.
var scale = []color.RGBA{
	{68, 1, 84, 255}, {59, 82, 139, 255}, {33, 145, 140, 255}, {94, 201, 98, 255}, {253, 231, 37, 255},
}

// PNG returns an image of the sample, with so many places in a row, or, for 0, as many as there are rows; it is scaled
// down to 1024 by 1024 pixels. nil: there are no places.
func (a *Array) PNG(width int) ([]byte, image.Point) {
	if a.Elements == 0 {
		return nil, image.Point{}
	}
	columns := int64(width)
	if columns <= 0 {
		columns = int64(math.Ceil(math.Sqrt(float64(a.Elements))))
	}
	columns = min(columns, a.Elements)
	rows := (a.Elements + columns - 1) / columns
	right, down := (columns+maxPixels-1)/maxPixels, (rows+maxPixels-1)/maxPixels
	size := image.Pt(int((columns+right-1)/right), int((rows+down-1)/down))
	img := image.NewRGBA(image.Rectangle{Max: size})
	for i := range img.Pix {
		img.Pix[i] = []byte{missing.R, missing.G, missing.B, missing.A}[i%4]
	}
	paint := func(p *Part, i int, c color.RGBA) {
		at, ok := a.offset.At(p.Values, int64(i))
		if x, y := int(at%columns/right), int(at/columns/down); ok && at >= 0 && img.RGBAAt(x, y) != strange {
			img.SetRGBA(x, y, c)
		}
	}
	low, high := a.span()
	for n := range a.parts {
		p := &a.parts[n]
		for i, f := range p.Numbers {
			c := colorOf(f, low, high)
			for k := i * p.Stride; k < min((i+1)*p.Stride, p.Elements); k += a.step() {
				paint(p, k, c)
			}
		}
		if p.Stat.NaN > 0 { // the sample may not have it
			paint(p, p.Stat.NaNAt, strange)
		}
	}
	var b bytes.Buffer
	if png.Encode(&b, img) != nil {
		return nil, size
	}
	return b.Bytes(), size
}

// step is how many elements are between those that are painted, so that not more than some millions are.
func (a *Array) step() int { return max(1, a.elements()/(4*maxPixels*maxPixels)) }

// span returns the least and the greatest number of the sample.
func (a *Array) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range a.parts {
		for _, f := range p.Numbers {
			if !math.IsNaN(f) && !math.IsInf(f, 0) {
				low, high = min(low, f), max(high, f)
			}
		}
	}
	return low, high
}

func colorOf(f, low, high float64) color.RGBA {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return strange
	case !(high > low):
		return scale[len(scale)/2]
	}
	at := (f/2 - low/2) / (high/2 - low/2) * float64(len(scale)-1) // halves: the span may be beyond the last float
	n := min(int(at), len(scale)-2)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*(at-float64(n))) }
	a, b := scale[n], scale[n+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
