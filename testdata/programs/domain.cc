// domain.cc - a hydrodynamics code in small: one object with 100 members and vectors of many
// thousands of numbers, which all its functions share. Rank 2 differs in one element.
#include <cstdio>
#include <cstring>
#include "domain.h"
#include "rank.h"

static const int histories = 500;

Domain::Domain(int rank, int edge)
{
    int elements = edge * edge * edge, nodes = (edge + 1) * (edge + 1) * (edge + 1);
    double *first[] = {&m_dt, &m_dtMax, &m_dtMin, &m_time, &m_stopTime, &m_courant, &m_hydro, &m_qStop, &m_eCut,
        &m_pCut, &m_vCut, &m_uCut, &m_eMin, &m_pMin, &m_vMax, &m_vMin, &m_refDens, &m_hgCoef, &m_ss4o3,
        &m_monoQMax, &m_monoQLimiter, &m_qLinear, &m_qQuad, &m_eosMax, &m_eosMin};
    int value = 0;
    for (double *d : first)
        *d = ++value * 0.125;
    int *counts[] = {&m_cycle, &m_rows, &m_cols, &m_planes, &m_regions, &m_balance, &m_cost, &m_sizeX, &m_sizeY,
        &m_sizeZ, &m_colLoc, &m_rowLoc, &m_planeLoc, &m_tp, &m_sendCount, &m_recvCount, &m_threads, &m_maxEdge,
        &m_maxPlane, &m_warnings};
    for (int *c : counts)
        *c = 0;
    m_sizeX = m_sizeY = m_sizeZ = edge;
    m_planeLoc = rank;
    for (auto *nodal : {&m_x, &m_y, &m_z, &m_xd, &m_yd, &m_zd, &m_xdd, &m_ydd, &m_zdd, &m_fx, &m_fy, &m_fz, &m_mass})
        nodal->assign(nodes, 0);
    for (auto *elemental : {&m_e, &m_p, &m_q, &m_ql, &m_qq, &m_v, &m_vol0, &m_delv, &m_vdov, &m_area, &m_ss, &m_elemMass,
            &m_dxx, &m_dyy, &m_dzz})
        elemental->assign(elements, 1);
    for (auto *index : {&m_nodes, &m_regNum, &m_lxim, &m_lxip, &m_letam, &m_letap, &m_lzetam, &m_lzetap, &m_symmX,
            &m_symmY, &m_symmZ})
        for (int i = 0; i < elements; i++)
            index->push_back(i % 11);
    for (int i = 0; i < nodes; i++)
        m_x[i] = i * 0.5;
    m_e[0] = 3.5 + rank;
    if (rank == 2)
        m_e[elements / 2] = -1;
    m_weight = 0.5, m_ratio = 1.5f, m_skew = 0;
    m_restart = false, m_quiet = true, m_viz = rank == 0;
    for (int i = 0; i < histories; i++)
        m_history[i] = i;
    m_title = "Sedov";
    m_name = "domain " + std::to_string(rank);
    m_counts = {{"elements", elements}, {"nodes", nodes}};
    m_regElems.assign(3, std::vector<int>(10, rank));
    m_send = m_x.data(), m_recv = nullptr;
    m_mode = rank % 2 ? Mode::Remap : Mode::Lagrange;
    m_steps = 1000L * rank;
    std::memset(m_code, 0, sizeof m_code);
    std::strcpy(m_code, "sdm");
}

void Domain::force()
{
    for (int i = 1; i + 1 < nodes(); i++) {
        double grad = x(i + 1) - x(i - 1);
        fx(i) = grad * p(i % elements());
    }
}

void Domain::advance()
{
    double scale = dt() * 0.5;
    for (int i = 0; i < nodes(); i++) {
        xd(i) += fx(i) * scale;
        x(i) += xd(i) * scale;
    }
    cycle()++;
    m_time += m_dt;
    e(cycle() % elements()) += 0.25; // moved
}

double Domain::total() const
{
    double sum = 0;
    for (double one : m_e)
        sum += one;
    return sum; // of the energies
}

// run takes the domain by reference and by pointer, as such codes do both.
static double run(Domain &domain, Domain *same, int cycles)
{
    while (domain.cycle() < cycles) {
        domain.force();
        same->advance();
    }
    return same->total();
}

int main(int argc, char **argv)
{
    int rank = my_rank();
    int edge = argc > 1 ? atoi(argv[1]) : 16;
    Domain *domain = new Domain(rank, edge);
    double energy = run(*domain, domain, 5);
    std::printf("%s: %d cycles, energy %.3f\n", domain->name().c_str(), domain->cycle(), energy);
    delete domain;
    return 0;
}
