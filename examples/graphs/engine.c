/* An engine that runs lists of operation records, in plain C: README.md says how it is built and judged.
 *
 * Four kinds, dense (linear, with a bias), tanh, add and mse (of weight 1), and SGD; another is refused, and so is a list
 * that is too long.  Names have up to 63 characters. */
#include "assayer_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64, MOST = 16 };

typedef struct assayer_graph_array Array;
typedef struct {
    char kind[NAME], inputs[2][NAME], parameters[2][NAME], output[NAME];
    int is_known;
} Record;

/* What the judge gave and wants; an array that nobody wants is taken here. */
typedef struct {
    const Array *given, *wanted;
    int given_count, wanted_count;
} Step;

/* ---- the list: the fields of every record stand in this order, its attributes last -------------------------------- */

/* Copies the names between the next two brackets behind `field`. */
static const char* names(const char* at, const char* field, char found[2][NAME]) {
    at = strchr(strstr(at, field), '[') + 1;
    for (int count = 0; *at != ']';) {
        if (*at++ != '"') continue;
        const char* end = strchr(at, '"');
        if (count < 2) snprintf(found[count++], NAME, "%.*s", (int)(end - at), at);
        at = end + 1;
    }
    return at;
}

static const char* word(const char* at, const char* field, char found[NAME]) {
    at = strchr(strstr(at, field) + strlen(field), '"') + 1;
    snprintf(found, NAME, "%.*s", (int)(strchr(at, '"') - at), at);
    return at;
}

/* Whether a text stands in what is left of a record; the next one begins with its kind. */
static int has(const char* rest, const char* text) {
    const char *next = strstr(rest, "\"kind\":"), *found = strstr(rest, text);
    return found && (!next || found < next);
}

static int read_records(const char* graph, Record* records) {
    int count = 0;
    for (const char* at = graph; count < MOST && (at = strstr(at, "\"kind\":")); count++) {
        Record* r = &records[count];
        memset(r, 0, sizeof *r);
        at = word(at, "\"kind\":", r->kind);
        at = names(at, "\"inputs\":", r->inputs);
        at = names(at, "\"parameters\":", r->parameters);
        at = word(at, "\"output\":", r->output);
        const int is_linear = has(at, "\"activation\": \"linear\"") && r->parameters[1][0];
        r->is_known = !strcmp(r->kind, "dense") ? is_linear : strcmp(r->kind, "mse") || has(at, "\"weight\": 1.0");
    }
    return count;
}

/* A number of the settings. */
static float setting(const char* graph, const char* name) {
    char field[NAME];
    snprintf(field, sizeof field, "\"%s\":", name);
    const char* at = strstr(strstr(graph, "\"settings\":"), field);
    return at ? strtof(at + strlen(field), NULL) : 0;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------- */

static const Array* among(const Array* arrays, int count, const char* prefix, const char* name) {
    char whole[2 * NAME];
    snprintf(whole, sizeof whole, "%s.%s", prefix, name);
    for (int i = 0; i < count; i++)
        if (!strcmp(arrays[i].name, whole)) return &arrays[i];
    return NULL;
}

/* A value: one that was given, or that a record writes. */
static const Array* value(const Step* s, const char* name) {
    const Array* found = among(s->given, s->given_count, "input", name);
    if (!found) found = among(s->wanted, s->wanted_count, "value", name);
    return found ? found : among(s->wanted, s->wanted_count, "loss", name);
}

static const Array* parameter(const Step* s, const char* name) { return among(s->given, s->given_count, "parameter", name); }

static int64_t size(const Array* a) {
    int64_t n = 1;
    for (int i = 0; i < a->rank; i++) n *= a->shape[i];
    return n;
}

/* Adds to a gradient; nobody wants that of an input. */
static void add_to(const Step* s, const char* name, int64_t i, float more) {
    const Array* gradient = among(s->wanted, s->wanted_count, "gradient", name);
    if (gradient) ((float*)gradient->data)[i] += more;
}

/* ---- the kinds ---------------------------------------------------------------------------------------------------- */

static int forward(const Step* s, const Record* r) {
    if (!r->is_known) return 1;
    const Array *x = value(s, r->inputs[0]), *out = value(s, r->output);
    const float *a = x->data, *b = r->inputs[1][0] ? value(s, r->inputs[1])->data : NULL;
    float* y = out->data;
    if (!strcmp(r->kind, "dense")) {
        const Array* weight = parameter(s, r->parameters[0]);
        const float *w = weight->data, *bias = parameter(s, r->parameters[1])->data;
        const int64_t units = weight->shape[0], width = weight->shape[1];
        for (int64_t row = 0; row < size(x) / width; row++)
            for (int64_t u = 0; u < units; u++) {
                float sum = bias[u];
                for (int64_t i = 0; i < width; i++) sum += a[row * width + i] * w[u * width + i];
                y[row * units + u] = sum;
            }
    } else if (!strcmp(r->kind, "tanh")) {
        for (int64_t i = 0; i < size(out); i++) y[i] = tanhf(a[i]);
    } else if (!strcmp(r->kind, "add")) {
        for (int64_t i = 0; i < size(out); i++) y[i] = a[i] + b[i];
    } else if (!strcmp(r->kind, "mse")) {
        float sum = 0;
        for (int64_t i = 0; i < size(x); i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
        *y = sum / (float)size(x);
    } else {
        return 1;
    }
    return 0;
}

static void backward(const Step* s, const Record* r) {
    const Array *x = value(s, r->inputs[0]), *d_array = among(s->wanted, s->wanted_count, "gradient", r->output);
    const float *a = x->data, *y = value(s, r->output)->data, *d = d_array ? d_array->data : NULL;
    if (!d && strcmp(r->kind, "mse")) return; /* no loss depends on it */
    if (!strcmp(r->kind, "dense")) {
        const Array* weight = parameter(s, r->parameters[0]);
        const float* w = weight->data;
        const int64_t units = weight->shape[0], width = weight->shape[1];
        for (int64_t row = 0; row < size(x) / width; row++)
            for (int64_t u = 0; u < units; u++) {
                const float up = d[row * units + u];
                add_to(s, r->parameters[1], u, up);
                for (int64_t i = 0; i < width; i++) {
                    add_to(s, r->parameters[0], u * width + i, up * a[row * width + i]);
                    add_to(s, r->inputs[0], row * width + i, up * w[u * width + i]);
                }
            }
    } else if (!strcmp(r->kind, "tanh")) {
        for (int64_t i = 0; i < size(x); i++) add_to(s, r->inputs[0], i, d[i] * (1 - y[i] * y[i]));
    } else if (!strcmp(r->kind, "add")) {
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < size(x); i++) add_to(s, r->inputs[k], i, d[i]);
    } else {
        const float* target = value(s, r->inputs[1])->data;
        for (int64_t i = 0; i < size(x); i++) add_to(s, r->inputs[0], i, 2 * (a[i] - target[i]) / (float)size(x));
    }
}

int32_t assayer_graph_step(const char* graph, const struct assayer_graph_array* given, int32_t given_count,
                           const struct assayer_graph_array* wanted, int32_t wanted_count) {
    const Step step = {given, wanted, given_count, wanted_count};
    Record records[MOST];
    const int count = read_records(graph, records);
    const int is_sgd = strstr(graph, "\"optimizer\": \"sgd\"") || strstr(graph, "\"optimizer\": \"\"");
    if (count == MOST || !is_sgd || setting(graph, "weight_decay") != 0 || setting(graph, "clip_norm") != 0) return 1;
    for (int i = 0; i < wanted_count; i++) /* gradients are added up */
        if (!strncmp(wanted[i].name, "gradient.", 9)) memset(wanted[i].data, 0, (size_t)size(&wanted[i]) * sizeof(float));
    for (int i = 0; i < count; i++)
        if (forward(&step, &records[i])) return 1;
    for (int i = count - 1; i >= 0; i--) backward(&step, &records[i]);
    const float lr = setting(graph, "lr");
    for (int i = 0; i < wanted_count; i++) {
        if (strncmp(wanted[i].name, "parameter.", 10)) continue;
        const char* name = wanted[i].name + 10;
        const float *old = parameter(&step, name)->data, *gradient = among(wanted, wanted_count, "gradient", name)->data;
        for (int64_t k = 0; k < size(&wanted[i]); k++) ((float*)wanted[i].data)[k] = old[k] - lr * gradient[k];
    }
    return 0;
}
