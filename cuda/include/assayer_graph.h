/* One training step of a list of operation records, as an engine that runs such lists is judged by: `assayer graph`.
 *
 * A shared library exports the one function below; it needs none of assayer.h.  Lists, attributes and what each kind of record
 * computes: docs/graph_judging.md. */
#ifndef ASSAYER_GRAPH_H
#define ASSAYER_GRAPH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ASSAYER_GRAPH_FLOAT32 = 0, ASSAYER_GRAPH_INT32 = 1 };

/* An array in the host's memory, dense, the last axis fastest. */
struct assayer_graph_array {
    const char* name;     /* what it is to the graph: see below */
    void* data;
    const int64_t* shape; /* rank numbers; none of a single number */
    int32_t rank;
    int32_t type;         /* ASSAYER_GRAPH_FLOAT32 or ASSAYER_GRAPH_INT32 */
};

/* Carries out one step: forward, losses, backward, update.  Returns 0, or another number where it cannot.
 *
 * graph: the list, as graph.json has it (JSON, UTF-8, ends with a zero byte).
 * given: its arrays, input.NAME and parameter.NAME; they are not to be written.
 * wanted: what the step comes to, each array to be written where `data` points, which holds NaN before:
 *   value.NAME      what a record writes                        loss.NAME       a loss, one number
 *   gradient.NAME   of the weighted sum of all losses           parameter.NAME  a parameter after the update
 *   state.NAME      running statistics after the step
 * An engine that computes no such array leaves it as it is; the report then names it. */
int32_t assayer_graph_step(const char* graph, const struct assayer_graph_array* given, int32_t given_count,
                           const struct assayer_graph_array* wanted, int32_t wanted_count);

#ifdef __cplusplus
}
#endif

#endif
