/* The k largest of a row and their weights, by the team that holds it. */
#ifndef ASSAYER_TOPK_CUH
#define ASSAYER_TOPK_CUH

#include "order.cuh"
#include "rows.cuh"

/* The first place no earlier than `from` that a team's row has.  The row's last part stays in items. */
template <typename L, typename T>
__device__ Place next_place(const T* row, const Parts<L>& parts, Place from, float (&items)[L::ITEMS]) {
    Place next = NOWHERE;
    for (int part = 0; part < parts.count(); part++) {
        if (parts.count() > 1) L::load(row + parts.start(part), parts.left(part), 0.0f, items);
#pragma unroll
        for (int i = 0; i < L::ITEMS; i++) {
            const Place place = place_of(items[i], static_cast<int>(parts.start(part)) + L::column(i));
            if (L::column(i) < parts.left(part) && place >= from && place < next) next = place;
        }
    }
    return team_fold<L::THREADS>(next, Min{});
}

/* The renormalised probabilities of the chosen are a softmax over their logits.  Where that is NaN (a NaN or an
 * infinity in the row), every probability is, and of equal ones the first are the largest.  Choice j is written by
 * member j; every member is told of it, by chose(index).  items: the row, where it is one part. */
template <typename L, typename T, typename Chose>
__device__ void choose_topk(const T* x, const Parts<L>& parts, float (&items)[L::ITEMS], float* weights,
                            int32_t* indices, int k, const Chose& chose) {
    float largest = 0.0f, sum = 0.0f;
    Place from = 0;
    for (int j = 0; j < k; j++) {
        const Place place = next_place<L>(x, parts, from, items);
        const int index = index_at(place);
        from = place + 1;
        const float logit = widened(x[index]);
        if (j == 0) largest = logit;
        const float weight = expf(logit - largest);
        sum += weight;
        const int chosen = isnan(sum) ? j : index;
        chose(chosen);
        if (j % L::THREADS != L::member()) continue;
        weights[j] = weight;
        indices[j] = chosen;
    }
    const float factor = 1.0f / sum;
    for (int j = L::member(); j < k; j += L::THREADS) weights[j] *= factor;
}

#endif
