package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/chromium"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/web"
)

// A browser is a page of Chromium, and what the page did.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	faults   []string // exceptions, and errors on the console
	requests []string // addresses
}

// patience bounds a wait for something on the page.
const patience = 2 * time.Minute

// open opens an empty page in Chromium.
func open(t *testing.T) *browser {
	t.Helper()
	program, variables := chromium.Find(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Env(append(variables, "LANG=en_GB.UTF-8", "TZ=Europe/Zurich")...))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, b.note)
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	}
	testkit.OK(t, err)
	return b
}

// note notes an event of the page.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, fmt.Sprintf("console: %s %+v", e.Type, e.Args))
	case *log.EventEntryAdded:
		b.faults = append(b.faults, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// do does what a user does.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value returns the value of an expression.
func value[T any](b *browser, expression string) (v T) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true.
func (b *browser) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); !value[bool](b, "Boolean("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("never came: %s\n%s", expression, strings.Join(b.faults, "\n"))
		}
	}
}

// press presses a key until the active element matches a selector, as a user does who has no pointer.
func (b *browser) press(key, until string) {
	b.t.Helper()
	for range 100 {
		b.do(chromedp.KeyEvent(key))
		if value[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", until)) {
			return
		}
	}
	b.t.Fatalf("no %s is reached", until)
}

// focused fails the test if the active element has no visible outline.
func (b *browser) focused() {
	b.t.Helper()
	const outline = `(() => { let e = document.activeElement; if (e.type === "radio") e = e.nextElementSibling;
		const s = getComputedStyle(e); return s.outlineStyle + " " + s.outlineWidth })()`
	if got := value[string](b, outline); got != "solid 2px" {
		b.t.Errorf("the focus of %s is not visible: %s", value[string](b, "document.activeElement.outerHTML"), got)
	}
}

// clean fails the test if the page did what a page of the server must not do.
func (b *browser) clean(server string, allowed ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		if !slices.ContainsFunc(allowed, func(s string) bool { return strings.Contains(fault, s) }) {
			b.t.Error(fault)
		}
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, server+"/") {
			b.t.Errorf("the page asked for %s", url)
		}
	}
}

// prefer makes the page's user prefer a theme.
func (b *browser) prefer(theme string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// makeID asks a server for an ID, as a program does.
func makeID(t *testing.T, server, generator string) string {
	t.Helper()
	w, err := http.Get(server + "/v1/generators/" + generator + "/ids")
	testkit.OK(t, err)
	defer w.Body.Close()
	var answer struct{ IDs []string }
	if err := json.NewDecoder(w.Body).Decode(&answer); err != nil || len(answer.IDs) != 1 {
		t.Fatalf("%d %v", w.StatusCode, err)
	}
	return answer.IDs[0]
}

// The page shows an ID of each format, at any width.
func TestPageReads(t *testing.T) {
	b := open(t)
	set := newSet(t)
	s := serve(t, web.Config{Set: set})
	b.do(chromedp.EmulateViewport(360, 740), chromedp.Navigate(s.URL+"/"))
	b.wait(`document.querySelectorAll(".card").length === ` + fmt.Sprint(len(set.All())))
	for _, g := range set.All() {
		id := makeID(t, s.URL, g.Name)
		b.do(chromedp.SetValue(chromedp.CSS("#id"), id), chromedp.Click(chromedp.CSS("#read-form button")))
		b.wait(fmt.Sprintf(`location.hash === "#%s" && document.querySelector("#facts").textContent.includes(%q)`, id, id))
		for i := range value[int](b, `document.querySelectorAll("#choices input").length`) {
			format := value[string](b, fmt.Sprintf(`{ const c = document.querySelectorAll("#choices input")[%d]; c.click(); c.nextElementSibling.firstChild.data }`, i))
			bits := value[string](b, `document.querySelector("#bits").textContent`)
			hex := value[string](b, `[...document.querySelectorAll("#facts dt")].find(e => e.textContent === "Hex").nextElementSibling.firstChild.textContent`)
			if want := binaryOf(hex); bits != want || !strings.HasPrefix(value[string](b, `document.querySelector("#facts dd").textContent`), format) {
				t.Errorf("%s as %s: bits %s, want %s", id, format, bits, want)
			}
			// The widths and the values of the fields give the ID again.
			again := value[string](b, `[...document.querySelectorAll("#fields tr")].map(r => BigInt(r.cells[2].textContent).toString(2).padStart(+r.cells[1].textContent, "0")).join("")`)
			if !strings.HasSuffix(bits, again) || strings.Trim(strings.TrimSuffix(bits, again), "0") != "" {
				t.Errorf("%s as %s: bits %s, fields %s", id, format, bits, again)
			}
		}
		if uncoloured := value[int](b, `[...document.querySelectorAll("#fields tr")].filter((r, i) => +r.cells[1].textContent !== document.querySelectorAll("#bits .f" + i).length).length`); uncoloured != 0 {
			t.Errorf("%s: %d fields have not the colour of their bits", id, uncoloured)
		}
		for _, width := range []int64{320, 360, 768, 1280} {
			b.do(chromedp.EmulateViewport(width, 740))
			if got := value[int64](b, "document.documentElement.scrollWidth"); got > width {
				t.Errorf("%s: the page has %d pixels on a screen of %d", g.Name, got, width)
			}
		}
	}
	b.clean(s.URL)
	// A text that is no ID stays, beside an error.
	b.do(chromedp.SetValue(chromedp.CSS("#id"), "nonsense!"), chromedp.Click(chromedp.CSS("#read-form button")))
	b.wait(`document.querySelector("#read-error").textContent.includes("nonsense!") && document.querySelector("#reading").hidden`)
	if value[string](b, `document.querySelector("#id").getAttribute("aria-invalid")`) != "true" {
		t.Error("the field is not marked")
	}
	// An address with an ID shows the ID.
	id := makeID(t, s.URL, "sno")
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL+"/#"+id))
	b.wait(fmt.Sprintf(`document.querySelector("#facts")?.textContent.includes(%q)`, id))
	b.wait(`document.querySelector("#age").textContent.match(/[2-9] seconds ago/)`) // the age grows
	if got := value[int](b, `document.querySelectorAll("#bits .bit").length`); got != 80 {
		t.Errorf("%d bits", got)
	}
}

func binaryOf(hex string) string {
	var b strings.Builder
	for _, c := range hex {
		fmt.Fprintf(&b, "%04b", strings.IndexRune("0123456789abcdef", c))
	}
	return b.String()
}

// The page does all by the keyboard: an ID is read, another candidate chosen, an ID made, the theme changed.
func TestPageKeyboard(t *testing.T) {
	b := open(t)
	old := broken() // whose epoch makes a plausible time of each nanoflake
	old.Name, old.Recipe.Epoch = "old", time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	s := serve(t, web.Config{Set: newSet(t, old)})
	b.prefer("light")
	b.do(chromedp.EmulateViewport(1000, 800), chromedp.Navigate(s.URL+"/"))
	b.wait(`document.querySelector(".card footer button")`)
	b.press(kb.Tab, "#theme")
	b.focused()
	before := value[string](b, "getComputedStyle(document.documentElement).backgroundColor")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(fmt.Sprintf("getComputedStyle(document.documentElement).backgroundColor !== %q", before))
	b.press(kb.Tab, "#id")
	b.focused()
	id := makeID(t, s.URL, "ulidflake") // is a scalable Ulid-Flake, too
	b.do(chromedp.KeyEvent(id), chromedp.KeyEvent(kb.Enter))
	b.wait(`document.querySelectorAll("#choices input").length > 1`)
	if said := value[string](b, `document.querySelector("#said[role=status]").textContent`); !strings.Contains(said, "formats fit") {
		t.Errorf("a screen reader hears %q", said)
	}
	b.press(kb.Tab, "#choices input")
	b.focused()
	b.picture("candidates")
	first := value[string](b, `document.querySelector("#facts dd").textContent`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.wait(fmt.Sprintf(`document.querySelector("#facts dd").textContent !== %q`, first))
	b.press(kb.Tab, `button[aria-label="Make one ID of order"]`)
	b.focused()
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(`document.activeElement.nextElementSibling.hash === location.hash && location.hash.length > 1 &&
		document.querySelector("#facts").textContent.includes(location.hash.slice(1))`)
	b.press(kb.Tab, "footer a")
	b.focused()
	// Of the readings of an ID that the page has made, the generator's own is chosen.
	for _, name := range []string{"nanoflake", "sno"} {
		b.press(kb.Tab, fmt.Sprintf(`button[aria-label="Make one ID of %s"]`, name))
		b.do(chromedp.KeyEvent(" "))
		b.wait(fmt.Sprintf(`document.activeElement.nextElementSibling.hash === location.hash && [...document.querySelectorAll("#facts dd")].at(-1).textContent.split(", ").includes(%q)`, name))
	}
	b.do(chromedp.Reload())
	b.wait(`document.documentElement.dataset.theme === "dark" && !document.querySelector("#reading").hidden`)
	b.clean(s.URL)
}

// The page shows live figures, a server that does not answer, and the server after its return.
func TestPageLive(t *testing.T) {
	b := open(t)
	h := web.New(web.Config{Set: newSet(t, broken())})
	var gone atomic.Bool
	s := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))
	b.do(chromedp.EmulateViewport(1000, 800), chromedp.Navigate(s+"/"))
	card := func(name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".card")].find(c => c.querySelector("h3").textContent === %q)`, name)
	}
	b.wait(card("order") + `?.querySelector(".state").textContent === "idle"`)
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if w, err := http.Get(s + "/v1/generators/order/ids?n=1000"); err == nil {
					io.Copy(io.Discard, w.Body)
					w.Body.Close()
				}
			}
		}
	})
	b.wait(card("order") + `.querySelector(".state").textContent === "ready"`)
	b.wait(card("order") + `.querySelector(".rate strong").textContent.match(/[1-9]/)`)
	b.wait(card("order") + `.querySelector("polyline").getAttribute("points").split(" ").length > 2`)
	b.wait(card("order") + `.querySelectorAll(".worker").length === 16`)
	b.wait(card("order") + `.querySelector(".worker .bar i").style.width === "100%" || ` + card("order") + `.querySelector(".worker .soft").textContent.match(/[0-9]/)`)
	close(stop)
	running.Wait()
	value[chromedp.Void](b, card("broken")+`.querySelector("footer button").click()`)
	b.wait(card("broken") + `.querySelector(".state").textContent === "starting"`)
	b.wait(card("broken") + `.querySelector("footer a").textContent.includes("the store is down")`)
	b.clean(s, "503")
	gone.Store(true)
	b.wait(`document.querySelector("#link").textContent.includes("does not answer since")`)
	b.picture("gone")
	gone.Store(false)
	b.wait(`document.querySelector("#link").textContent === "connected"`)
}

// A page of a server with tokens asks for a token, and keeps the token for the tab.
func TestPageToken(t *testing.T) {
	b := open(t)
	s := serve(t, web.Config{Set: newSet(t), Access: newAccess(t)}).URL
	b.do(chromedp.EmulateViewport(360, 740), chromedp.Navigate(s+"/"))
	b.wait(`document.activeElement.id === "token" && document.querySelector("#link").textContent === "needs a token"`)
	b.do(chromedp.KeyEvent("wrong"))
	b.focused()
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(`document.querySelector("#token-note").textContent.includes("unknown token") && document.activeElement.id === "token"`)
	b.picture("token")
	b.do(chromedp.KeyEvent(correct), chromedp.KeyEvent(kb.Enter))
	b.wait(`document.querySelector("#link").textContent === "connected" && document.querySelector("#token-form").hidden && document.querySelector(".card")`)
	b.do(chromedp.Reload())
	b.wait(`document.querySelector("#link")?.textContent === "connected" && document.querySelector("#token-form").hidden && document.querySelector(".card")`)
	b.clean(s, "401")
}

// picture writes what the page looks like to the folder FIRN_CAPTURES, if there is one.
func (b *browser) picture(name string) []byte {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if dir := os.Getenv("FIRN_CAPTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "serve-"+name+".png"), small(b.t, picture), 0o666); err != nil {
			b.t.Fatal(err)
		}
	}
	return picture
}

// small returns a picture with its 256 most frequent colours, in a third of the bytes.
func small(t *testing.T, picture []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(picture))
	testkit.OK(t, err)
	counts := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			counts[full.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return counts[b] - counts[a] })
	reduced := image.NewPaletted(full.Bounds(), colours[:min(len(colours), 256)])
	draw.Draw(reduced, full.Bounds(), full, image.Point{}, draw.Src)
	var b bytes.Buffer
	testkit.OK(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, reduced))
	return b.Bytes()
}

// The page has two themes. With FIRN_CAPTURES, the test writes the pictures of docs/captures.
func TestPageThemes(t *testing.T) {
	b := open(t)
	store := memlease.New()
	var all []supply.Generator
	for _, g := range []struct {
		name, format string
		workers      int
	}{{"events", "sno", 1}, {"order", "nanoflake", 4}, {"session", "ulidflake", 1}} {
		f, _ := inspect.Lookup(g.format)
		all = append(all, supply.Generator{Name: g.name, Format: f, Workers: g.workers, Store: "memory", Recipe: shape.Recipe{Leased: f.Worker() != ""},
			Open: func(context.Context) (driver.Store, error) { return store, nil }})
	}
	set, err := supply.New(supply.Config{Generators: all})
	testkit.OK(t, err)
	defer set.Close(context.Background())
	s := serve(t, web.Config{Set: set})
	points := 2
	if os.Getenv("FIRN_CAPTURES") != "" {
		points = 45
	}
	b.do(chromedp.EmulateViewport(1120, 700), chromedp.Navigate(s.URL+"/#"+makeID(t, s.URL, "order")))
	for i := range points { // a line needs points
		for name, n := range map[string]float64{"order": 60 + 20*math.Sin(float64(i)/5), "events": 8 + 6*math.Sin(float64(i)/3), "session": 3} {
			for range int(n) {
				w, err := http.Get(s.URL + "/v1/generators/" + name + "/ids?n=100")
				testkit.OK(t, err)
				w.Body.Close()
			}
		}
		b.wait(fmt.Sprintf(`document.querySelector(".card polyline")?.getAttribute("points")?.split(" ").length > %d`, i))
	}
	grounds := map[color.Color]string{} // the themes by their colours
	for _, theme := range []string{"light", "dark"} {
		b.prefer(theme)
		for _, width := range []int64{1120, 360} {
			b.do(chromedp.EmulateViewport(width, 700))
			name := theme
			if width == 360 {
				name += "-narrow"
			}
			drawn, err := png.Decode(bytes.NewReader(b.picture(name)))
			testkit.OK(t, err)
			if got := drawn.Bounds().Dx(); got != int(width) {
				t.Errorf("the picture has %d pixels, want %d", got, width)
			}
			grounds[drawn.At(1, 1)] = theme
		}
	}
	if len(grounds) != 2 {
		t.Errorf("the two themes have %d grounds: %v", len(grounds), grounds)
	}
	b.clean(s.URL)
}
