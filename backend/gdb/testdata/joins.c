// joins.c - threads that are created, join, and call one function together, again
// and again.
#include <pthread.h>

static pthread_barrier_t together;
int sums[2];

int hit(int id)
{
    return ++sums[id]; // hit here
}

static void *body(void *arg)
{
    int id = *(int *)arg;
    for (int i = 0; i < 5; i++) {
        pthread_barrier_wait(&together);
        hit(id);
    }
    return NULL;
}

int main(void)
{
    static int ids[2] = { 0, 1 };
    pthread_t threads[2];
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, body, &ids[i]);
    pthread_join(threads[0], NULL); // join 0
    pthread_join(threads[1], NULL); // join 1
    return sums[0] + sums[1]; // both have joined
}
