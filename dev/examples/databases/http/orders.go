// Package orders serves orders by net/http, gin and echo: docs/databases/http.md has the same code.
package orders

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"

	"github.com/firn-id/firn/nanoflake"
)

// An Order can have a parent: an order that it replaces.
type Order struct {
	ID     nanoflake.ID  `json:"id"`
	Parent *nanoflake.ID `json:"parent,omitempty"`
	Item   string        `json:"item"`
}

// ErrNotFound is the error of an ID without an order.
var ErrNotFound = errors.New("no such order")

// A Finder returns the order with an ID, or ErrNotFound.
type Finder func(nanoflake.ID) (Order, error)

// Handler serves GET /orders/{id} by net/http.
func Handler(find Finder) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := nanoflake.Parse(r.PathValue("id"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		o, err := find(id)
		if err != nil {
			http.Error(w, ErrNotFound.Error(), http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(o); err != nil {
			slog.ErrorContext(r.Context(), "answer", "order", id, "err", err)
		}
	})
	return mux
}

// A Search is what a query asks for: ?after=0549x5l2itvr4&id=…&id=….
type Search struct {
	After nanoflake.ID   `form:"after" query:"after"`
	Only  *nanoflake.ID  `form:"only" query:"only"`
	IDs   []nanoflake.ID `form:"id" query:"id"`
}

// Gin serves GET /orders/:id and GET /orders by gin.
func Gin(find Finder, search func(Search) any) http.Handler {
	router := gin.New()
	router.GET("/orders/:id", func(c *gin.Context) {
		var path struct {
			ID nanoflake.ID `uri:"id" binding:"required"`
		}
		if err := c.ShouldBindUri(&path); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		o, err := find(path.ID)
		if err != nil {
			c.JSON(http.StatusNotFound, gin.H{"error": ErrNotFound.Error()})
			return
		}
		c.JSON(http.StatusOK, o)
	})
	router.GET("/orders", func(c *gin.Context) {
		var s Search
		if err := c.ShouldBindQuery(&s); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, search(s))
	})
	return router
}

// Echo serves GET /orders/:id and GET /orders by echo.
func Echo(find Finder, search func(Search) any) http.Handler {
	e := echo.New()
	e.GET("/orders/:id", func(c echo.Context) error {
		var path struct {
			ID nanoflake.ID `param:"id"`
		}
		if err := c.Bind(&path); err != nil {
			return err
		}
		o, err := find(path.ID)
		if err != nil {
			return echo.NewHTTPError(http.StatusNotFound, ErrNotFound.Error())
		}
		return c.JSON(http.StatusOK, o)
	})
	e.GET("/orders", func(c echo.Context) error {
		var s Search
		if err := c.Bind(&s); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, search(s))
	})
	return e
}
