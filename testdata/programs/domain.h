// domain.h - a class with 100 members, as the codes of the field have: numbers, big vectors
// that functions give by reference, and some of everything else.
#pragma once
#include <map>
#include <string>
#include <vector>

enum class Mode { Lagrange, Remap, Both };

class Domain {
public:
    Domain(int rank, int edge);

    // Elements and nodes are given by reference, so that `domain.e(i) += w` works.
    double &x(int i) { return m_x[i]; }
    double &xd(int i) { return m_xd[i]; }
    double &fx(int i) { return m_fx[i]; }
    double &e(int i) { return m_e[i]; }
    double &p(int i) { return m_p[i]; }
    double &v(int i) { return m_v[i]; }
    int &cycle() { return m_cycle; }
    double &dt() { return m_dt; }
    const std::string &name() const { return m_name; }
    int elements() const { return int(m_e.size()); }
    int nodes() const { return int(m_x.size()); }

    void force();
    void advance();
    double total() const;

private:
    double m_dt, m_dtMax, m_dtMin, m_time, m_stopTime, m_courant, m_hydro;
    double m_qStop, m_eCut, m_pCut, m_vCut, m_uCut, m_eMin, m_pMin;
    double m_vMax, m_vMin, m_refDens, m_hgCoef, m_ss4o3, m_monoQMax, m_monoQLimiter;
    double m_qLinear, m_qQuad, m_eosMax, m_eosMin;
    int m_cycle, m_rows, m_cols, m_planes, m_regions, m_balance, m_cost;
    int m_sizeX, m_sizeY, m_sizeZ, m_colLoc, m_rowLoc, m_planeLoc, m_tp;
    int m_sendCount, m_recvCount, m_threads, m_maxEdge, m_maxPlane, m_warnings;
    std::vector<double> m_x, m_y, m_z, m_xd, m_yd, m_zd, m_xdd;
    std::vector<double> m_ydd, m_zdd, m_fx, m_fy, m_fz, m_mass, m_e;
    std::vector<double> m_p, m_q, m_ql, m_qq, m_v, m_vol0, m_delv;
    std::vector<double> m_vdov, m_area, m_ss, m_elemMass, m_dxx, m_dyy, m_dzz;
    std::vector<int> m_nodes, m_regNum, m_lxim, m_lxip, m_letam, m_letap, m_lzetam;
    std::vector<int> m_lzetap, m_symmX, m_symmY, m_symmZ;
    float m_weight, m_ratio, m_skew;
    bool m_restart, m_quiet, m_viz;
    double m_history[500];
    const char *m_title;
    std::string m_name;
    std::map<std::string, int> m_counts;
    std::vector<std::vector<int>> m_regElems;
    double *m_send, *m_recv;
    Mode m_mode;
    long m_steps;
    char m_code[16];
};
